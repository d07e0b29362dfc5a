import { Client } from 'pg';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { InstanceReporter } from '../../src/application/operations/instance-reporter.js';
import { instanceLimits, type NumberedReport } from '../../src/application/operations/ports.js';
import { Instance } from '../../src/application/shared/instance.js';
import { RuntimeId } from '../../src/domain/chat/target.js';
import { seconds } from '../../src/interfaces/http/schemas.js';
import { version } from '../../src/interfaces/version.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { query } from '../support/database.js';
import { masterKey } from '../support/monitoring.js';
import { aReport } from '../support/records.js';
import { type Member, readyProject } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

/** The app is one instance. The tests store the reports of others. */
describe('the instances in GET /v1/status', () => {
  const ids = { admin: '', stranger: '', second: '', deployment: '' };
  const models = new Map<string, string>();
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  let other: NumberedReport;

  beforeAll(async () => {
    ({ app, admin, member, stranger } = await TestApp.withTeam({
      env: { SERVICE_MASTER_KEY: masterKey },
      adapt: (container) => container.rebind(ModelServer).toConstantValue(new MemoryModelServer()),
    }));
    app.container.get(Instance).name = 'app:1';
    await app.verifyEmails();
    for (const [name, { token }] of Object.entries({ admin, stranger, second: admin })) {
      const project = await readyProject(app, token, { runtime: 'onnx', path: 'chat' });
      ids[name as 'admin'] = project;
      models.set(project, (await app.get(`/v1/projects/${project}/runtime`, token)).body.model_id);
    }
    const deployed = await app.post('/v1/deployments', admin.token, { name: 'iris', model_path: 'iris.onnx' });
    ids.deployment = deployed.body.id;
    await app.container.get(InstanceReporter).report();
    other = aReport({
      number: 1_000,
      name: 'other:2',
      version: '9.9.9',
      since: new Date(app.clock.now().getTime() - 60_000),
      state: 'draining',
      runtimes: [ids.admin, ids.stranger, ids.second].map((projectId) => ({
        ...{ projectId, modelId: models.get(projectId) as string, state: 'loading', waiting: 2 },
      })),
      deployments: [{ id: ids.deployment, status: 'crash_looping' }],
      waitingCalls: 6,
      memoryBytes: 5_000_000_000,
    });
  });
  beforeEach(() => app.store.instanceReports.save(other));
  afterAll(() => app.stop());

  const instances = async (token: string) => {
    const { status, body } = await app.get('/v1/status', token);
    expect(status).toBe(200);
    return body.instances;
  };
  /** Returns what a caller sees, if the caller sees the runtimes of these projects. */
  const seen = (projects: readonly string[], deployed: boolean) => {
    const runtimes = (state: string, waiting: number) =>
      projects.map((project) => ({ project_id: project, model_id: models.get(project), state, waiting }));
    const deployments = (status: string) => (deployed ? [{ deployment_id: ids.deployment, status }] : []);
    return [
      {
        ...{ name: 'other:2', version: '9.9.9', since: seconds(other.since), answering: false, state: 'draining' },
        ...{ runtimes: runtimes('loading', 2), deployments: deployments('crash_looping') },
        ...{ waiting_calls: 6, memory_bytes: 5_000_000_000 },
      },
      {
        ...{ name: 'app:1', version, since: expect.any(Number), answering: true, state: 'ready' },
        ...{ runtimes: expect.arrayContaining(runtimes('ready', 0)), deployments: deployments('running') },
        ...{ waiting_calls: 0, memory_bytes: expect.any(Number) },
      },
    ];
  };

  it('show each account the runtimes of its team, and the deployments to operators', async () => {
    for (const { token } of [admin, member]) {
      const found = await instances(token);
      expect(found).toEqual(seen([ids.admin, ids.second], true));
      expect(found[1].runtimes).toHaveLength(2);
      expect(found[1].memory_bytes).toBeGreaterThan(10_000_000);
    }
    expect(await instances(member.apiKey)).toEqual(seen([ids.admin, ids.second], true));
    const ofStranger = await instances(stranger.token);
    expect(ofStranger).toEqual(seen([ids.stranger], false));
    expect(ofStranger[1].runtimes).toHaveLength(1);
    const all = await instances(masterKey);
    expect(all).toEqual(seen([ids.admin, ids.stranger, ids.second], true));
    expect(all[1].runtimes).toHaveLength(3);
  });

  it('show a key the runtimes of its projects, and the deployments if it may read them', async () => {
    const key = async (over: object) => (await app.post('/v1/keys', admin.token, over)).body.key;
    expect(await instances(await key({ projects: [ids.second] }))).toEqual(seen([ids.second], false));
    expect(await instances(await key({ permissions: ['chat'] }))).toEqual(seen([ids.admin, ids.second], false));
    expect(await instances(await key({ permissions: ['read'] }))).toEqual(seen([ids.admin, ids.second], true));
  });

  it('show a team its runtimes, however many newer projects others have, with one statement', async () => {
    const runtimes = app.container.get(ChatRuntimes);
    const modelId = models.get(ids.stranger) as string;
    const newer = Array.from(
      { length: instanceLimits.listed + 1 },
      (_, n) => `prj_ffffffff-ffff-7fff-bfff-${String(n).padStart(12, '0')}`,
    );
    const started = newer.map((project) => RuntimeId.of(project, modelId));
    const others = newer.map((projectId) => ({ projectId, modelId, state: 'ready', waiting: 0 }) as const);
    const source = await runtimes.source({ runtime: 'onnx', path: 'chat' });
    for (const id of started) runtimes.start(id, source);
    try {
      await app.container.get(InstanceReporter).report();
      await app.store.instanceReports.save({ ...other, runtimes: [...others, ...other.runtimes] });
      const statements = jest.spyOn(Client.prototype, 'query');
      expect(await instances(stranger.token)).toEqual(seen([ids.stranger], false));
      const texts = statements.mock.calls.map(([query]) => (query as { text?: string }).text ?? String(query));
      statements.mockRestore();
      expect(texts.filter((text) => /\binstances\b/.test(text))).toHaveLength(1);
      expect((await instances(masterKey)).map((one: NumberedReport) => one.runtimes.length)).toEqual([1_000, 1_000]);
      const reports = await app.store.instanceReports.living([ids.stranger]); // as another instance sees them
      expect(reports.map((one) => one.runtimes.map(({ projectId }) => projectId))).toEqual([
        [ids.stranger],
        [ids.stranger],
      ]);
    } finally {
      for (const id of started) await runtimes.stop(id);
    }
  });

  it('tell nothing to callers without a credential', async () => {
    expect((await app.get('/v1/status')).status).toBe(401);
  });

  it('leave out an instance 15 s after its last report, and the one that has left', async () => {
    const names = async () => (await instances(admin.token)).map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(['other:2', 'app:1']);
    await query(app.database.url, `UPDATE instances SET reported_at = now() - interval '15 s'`);
    expect(await names()).toEqual(['app:1']); // the answering instance is always there
    await app.container.get(InstanceReporter).report();
    await app.container.get(InstanceReporter).leave();
    expect(await app.store.instanceReports.numbers()).toEqual([1_000]);
  });

  it('list the answering instance once, as it is now', async () => {
    const instance = app.container.get(Instance);
    await app.container.get(InstanceReporter).report();
    for (const [change, state] of [
      [{ loading: true }, 'starting'],
      [{ draining: true }, 'draining'],
      [{ draining: false, loading: false }, 'ready'],
    ] as const) {
      Object.assign(instance, change);
      expect((await instances(admin.token))[1]).toMatchObject({ name: 'app:1', answering: true, state });
    }
    expect(await instances(admin.token)).toHaveLength(2);
  });
});
