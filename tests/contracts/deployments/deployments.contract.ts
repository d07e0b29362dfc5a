import type { DeploymentRepository } from '../../../src/application/deployments/ports.js';
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

    it('removes one, and says where there was none', async () => {
      const [one, other] = [await kept(), await kept()];
      expect(await deployments.remove(one.id)).toBe(true);
      expect(await deployments.remove(one.id)).toBe(false);
      expect(await deployments.all()).toEqual([other]);
    });
  });
}
