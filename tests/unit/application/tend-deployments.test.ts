import { TendDeployments } from '../../../src/application/deployments/tend-deployments.js';
import { MemoryModelFileResolver } from '../../fakes/deployments/memory-model-file-resolver.js';
import { MemoryModelServer } from '../../fakes/deployments/memory-model-server.js';
import { imaginedProcess } from '../../support/imagined-process.js';
import { memoryRepositories } from '../../support/memory-repositories.js';
import { aDeployment } from '../../support/records.js';

describe('tending deployments', () => {
  it('brings up what this process has claimed without learning of it, once', async () => {
    const { deployments } = memoryRepositories();
    const files = new MemoryModelFileResolver({ '/models/iris.onnx': { file: '/models/iris.onnx' } });
    const servers = new MemoryModelServer(files, () => ({ load: async () => undefined, answer: async () => null }));
    const { ownership } = imaginedProcess();
    const free = { ...aDeployment(), process: null };
    await deployments.add(free);
    const claim = jest.spyOn(deployments, 'claim');
    const claimed = deployments.claim.bind(deployments);
    claim.mockImplementationOnce(async (...args) => {
      await claimed(...args);
      throw new Error('the connection broke');
    });
    const resumed = jest.spyOn(servers, 'resume');
    const tending = new TendDeployments(deployments, servers, ownership);
    await expect(tending.execute()).rejects.toThrow('the connection broke');
    expect(servers.ids()).toEqual([]);
    await tending.execute();
    await tending.execute();
    expect(servers.ids()).toEqual([free.id]);
    expect(resumed).toHaveBeenCalledTimes(1);
  });
});
