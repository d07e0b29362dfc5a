import type { DeploymentRepository } from '../../../src/application/deployments/ports.js';
import { atOnce } from '../../support/barrier.js';
import { aDeployment, ids } from '../../support/records.js';
import type { StoreUnderTest } from '../../support/repositories.js';

export function deploymentsContract(adapter: string, store: StoreUnderTest) {
  describe(`DeploymentRepository kept by ${adapter}`, () => {
    let deployments: DeploymentRepository;
    beforeEach(async () => {
      ({ deployments } = await store.open());
    });

    const kept = async (over: Parameters<typeof aDeployment>[0] = {}) => {
      const deployment = aDeployment(over);
      await deployments.add(deployment);
      return deployment;
    };

    it('gives back exactly what was added', async () => {
      const plain = await kept();
      const batched = await kept({ maxBatch: 32, maxDelayMs: 0, createdBy: null, modelPath: './über/ modèle.onnx' });
      expect(await deployments.find(plain.id)).toEqual(plain);
      expect(await deployments.find(batched.id)).toEqual(batched);
    });

    it('finds none that was not added', async () => {
      await kept();
      expect(await deployments.find(ids.next('dep'))).toBeNull();
      expect(await deployments.find('')).toBeNull();
    });

    it('lists all there are, newest first, and counts them', async () => {
      expect(await deployments.all()).toEqual([]);
      expect(await deployments.count()).toBe(0);
      const [first, second, third] = [await kept(), await kept(), await kept()];
      expect(await deployments.all()).toEqual([third, second, first]);
      expect(await deployments.count()).toBe(3);
    });

    it('notes a port, and nothing of a deployment that is gone', async () => {
      const [one, other] = [await kept(), await kept()];
      await deployments.notePort(one.id, 65_535);
      await deployments.notePort(ids.next('dep'), 1);
      expect(await deployments.all()).toEqual([other, { ...one, lastPort: 65_535 }]);
    });

    it('is claimed by one of many who try at once, from the one whose it is', async () => {
      const [one, other] = [await kept(), await kept({ process: 3 })];
      const claims = await atOnce(6, (party) => deployments.claim(one.id, null, party + 10));
      expect(claims.filter(Boolean)).toHaveLength(1);
      expect(await deployments.find(one.id)).toEqual({ ...one, process: claims.indexOf(true) + 10 });
      expect(await deployments.claim(other.id, null, 4)).toBe(false);
      expect(await deployments.claim(other.id, 2, 4)).toBe(false);
      expect(await deployments.claim(other.id, 3, 4)).toBe(true);
      expect(await deployments.claim(ids.next('dep'), null, 4)).toBe(false);
    });

    it("makes nobody's what is a process's", async () => {
      const [one, other] = [await kept({ process: 3 }), await kept({ process: 4 })];
      await deployments.release(3);
      expect(await deployments.all()).toEqual([other, { ...one, process: null }]);
    });

    it('removes one, and says where there was none', async () => {
      const [one, other] = [await kept(), await kept()];
      expect(await deployments.remove(one.id)).toBe(true);
      expect(await deployments.remove(one.id)).toBe(false);
      expect(await deployments.all()).toEqual([other]);
    });
  });
}
