import { Authority } from '../../../src/application/accounts/authority.js';
import { DeploymentService } from '../../../src/application/deployments/deployment.service.js';
import { DeploymentReconciler } from '../../../src/application/deployments/deployment-reconciler.js';
import { EngineModels } from '../../../src/application/deployments/engine-models.js';
import type { CallTracker } from '../../../src/application/jobs/call-tracker.js';
import { Deployment, deploymentLimits } from '../../../src/domain/deployments/deployment.js';
import { NoTracer } from '../../../src/infrastructure/system/adapters.js';
import { MemoryModelServer } from '../../fakes/deployments/memory-model-server.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { auditOn } from '../../support/audit.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { RecordingLog } from '../../support/recording-log.js';
import { aDeployment, ids } from '../../support/records.js';
import type { Repositories } from '../../support/repositories.js';

describe('DeploymentService', () => {
  const store = postgresUnderTest();
  let repositories: Repositories;
  let deployments: Repositories['deployments'];
  let service: DeploymentService;
  beforeAll(async () => {
    repositories = await store.open();
    deployments = repositories.deployments;
    service = serviceWith(servers);
  });

  const servers = new MemoryModelServer();
  const clock = new ManualClock();
  const serviceWith = (server: MemoryModelServer) => {
    const reconciler = new DeploymentReconciler(deployments, server, new RecordingLog());
    const authority = new Authority(repositories.credentials, clock);
    const audit = auditOn(repositories);
    const models = new EngineModels(deployments, server);
    const calls = {} as CallTracker;
    const others = [calls, authority, audit, ids, clock, new NoTracer()] as const;
    return new DeploymentService(deployments, server, reconciler, models, ...others);
  };
  const by = { kind: 'master' } as const;
  const about = Deployment.fields(aDeployment());
  const create = (name: string, signal = new AbortController().signal) =>
    service.create(by, { ...about, name, signal });

  it('limits the number of deployments, including those that still start', async () => {
    for (let n = 1; n < deploymentLimits.deployments; n++) await deployments.add(aDeployment());
    const outcomes = await Promise.allSettled([create('a'), create('b'), create('c')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(outcomes[1]).toMatchObject({ reason: { code: 'invalid_request' } });
    expect(servers.ids()).toHaveLength(1);
  });

  it('refuses and stops a deployment if another instance has meanwhile reached the limit', async () => {
    for (const { id } of (await deployments.all()).slice(0, 1)) await deployments.remove(id);
    await servers.close();
    const rival = new MemoryModelServer(undefined, () => deployments.add(aDeployment()));
    const refused = serviceWith(rival).create(by, { ...about, name: 'late', signal: new AbortController().signal });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request' });
    expect(rival.ids()).toEqual([]);
    expect(await deployments.count()).toBe(deploymentLimits.deployments);
  });

  it('starts a deployment on every instance, and stops it on every instance after its deletion', async () => {
    for (const { id } of await deployments.all()) await deployments.remove(id);
    const [one, other] = [new MemoryModelServer(), new MemoryModelServer()];
    const reconciler = new DeploymentReconciler(deployments, other, new RecordingLog());
    const service = serviceWith(one);
    const { id } = await service.create(by, { ...about, name: 'shared', signal: new AbortController().signal });
    expect((await serviceWith(other).read(by, { id })).state).toMatchObject({ status: 'starting' });
    await reconciler.applyAll();
    await reconciler.applyAll();
    expect(other.ids()).toEqual([id]);
    await service.delete(by, { id });
    await reconciler.applyAll();
    expect([one.ids(), other.ids()]).toEqual([[], []]);
    await expect(service.read(by, { id })).rejects.toMatchObject({ code: 'not_found' });
  });
});
