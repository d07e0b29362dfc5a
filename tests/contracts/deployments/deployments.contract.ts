import type { Deployments } from '../../../src/application/deployments/ports/deployments.js';
import { aDeployment, ids } from '../../support/records.js';
import type { StoreUnderTest } from '../../support/repositories.js';

export function deploymentsContract(adapter: string, store: StoreUnderTest) {
  describe(`Deployments kept by ${adapter}`, () => {
    let deployments: Deployments;
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

    it('removes one, and says where there was none', async () => {
      const [one, other] = [await kept(), await kept()];
      expect(await deployments.remove(one.id)).toBe(true);
      expect(await deployments.remove(one.id)).toBe(false);
      expect(await deployments.all()).toEqual([other]);
    });
  });
}
