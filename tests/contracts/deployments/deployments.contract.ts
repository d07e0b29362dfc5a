import type { DeploymentRepository } from '../../../src/application/deployments/ports.js';
import { aDeployment, aRemoteDeployment, ids } from '../../support/records.js';
import type { StoreUnderTest } from '../../support/repositories.js';

export function deploymentsContract(adapter: string, store: StoreUnderTest) {
  describe(`DeploymentRepository in ${adapter}`, () => {
    let deployments: DeploymentRepository;
    beforeEach(async () => {
      ({ deployments } = await store.open());
    });

    const add = async (over: Parameters<typeof aDeployment>[0] = {}) => {
      const deployment = aDeployment(over);
      await deployments.add(deployment);
      return deployment;
    };

    it('returns deployments exactly as they were added, newest first, and counts them', async () => {
      expect(await deployments.all()).toEqual([]);
      const plain = await add();
      const prices = { perCall: 0.000000001, perSecond: null };
      const batched = await add({
        maxBatch: 32,
        maxDelayMs: 0,
        createdBy: null,
        modelPath: './über/ modèle.onnx',
        prices,
      });
      const remote = aRemoteDeployment();
      const chosen = aRemoteDeployment({ modelVersion: '3', keySetting: 'SERVICE_RUNTIME_KEY_GPU', modelName: 'é/1' });
      for (const one of [remote, chosen]) await deployments.add(one);
      for (const one of [plain, batched, remote, chosen]) expect(await deployments.find(one.id)).toEqual(one);
      expect(await deployments.all()).toEqual([chosen, remote, batched, plain]);
      expect(await deployments.count()).toBe(4);
      for (const unknown of [ids.next('dep'), '']) expect(await deployments.find(unknown)).toBeNull();
    });

    it('removes a deployment once, and returns false the second time', async () => {
      const [one, other] = [await add(), await add()];
      expect(await deployments.remove(one.id)).toBe(true);
      expect(await deployments.remove(one.id)).toBe(false);
      expect(await deployments.all()).toEqual([other]);
    });
  });
}
