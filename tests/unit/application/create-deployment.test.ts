import { CreateDeployment } from '../../../src/application/deployments/create-deployment.js';
import { DeploymentViews } from '../../../src/application/deployments/deployment-views.js';
import { TendDeployments } from '../../../src/application/deployments/tend-deployments.js';
import { deploymentLimits } from '../../../src/domain/deployments/deployment.js';
import { MemoryModelFileResolver } from '../../fakes/deployments/memory-model-file-resolver.js';
import { MemoryModelServer } from '../../fakes/deployments/memory-model-server.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { auditOn } from '../../support/audit.js';
import { imaginedProcess } from '../../support/imagined-process.js';
import { memoryRepositories } from '../../support/memory-repositories.js';
import { aDeployment, ids } from '../../support/records.js';

describe('a new deployment', () => {
  const repositories = memoryRepositories();
  const { deployments } = repositories;
  const audit = auditOn(repositories);
  const files = new MemoryModelFileResolver({ '/models/iris.onnx': { file: '/models/iris.onnx' } });
  const servers = new MemoryModelServer(files, () => ({ load: async () => undefined, answer: async () => null }));
  const { ownership, others } = imaginedProcess();
  const views = new DeploymentViews(deployments, servers, ownership, others);
  const tending = new TendDeployments(deployments, servers, ownership);
  const more = [views, audit, ids, new ManualClock(), ownership, tending] as const;
  const useCase = new CreateDeployment(deployments, servers, ...more);
  const about = { by: { kind: 'master' }, modelPath: 'iris.onnx', maxBatch: null, maxDelayMs: null } as const;
  const create = (name: string, signal = new AbortController().signal) => useCase.execute({ ...about, name, signal });

  it('is one of a bounded number, those counted that only begin', async () => {
    for (let n = 1; n < deploymentLimits.deployments; n++) await deployments.add(aDeployment());
    const outcomes = await Promise.allSettled([create('a'), create('b'), create('c')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'invalid_request' } });
    expect(servers.running).toBe(1);
  });

  it('is not kept where another process of the service has taken the last place meanwhile', async () => {
    for (const { id } of (await deployments.all()).slice(0, 1)) await deployments.remove(id);
    await servers.close();
    const rival = new MemoryModelServer(files, () => ({
      load: () => deployments.add(aDeployment()),
      answer: async () => null,
    }));
    const late = new CreateDeployment(deployments, rival, ...more);
    const refused = late.execute({ ...about, name: 'late', signal: new AbortController().signal });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request' });
    expect(rival.running).toBe(0);
    expect(await deployments.count()).toBe(deploymentLimits.deployments);
  });
});
