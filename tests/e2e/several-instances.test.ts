import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { FLOAT, onnxFile } from '../support/onnx/onnx-graph.js';
import { descendants, untilGone } from '../support/processes.js';
import { Service, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import { ask, completions, type Member, readyProject, register, untilState } from '../support/workspace.js';

const path = '/v1/deployments';

const doubling = onnxFile({
  inputs: [['x', FLOAT, ['n', 2]]],
  outputs: [['y', FLOAT, ['n', 2]]],
  nodes: [{ op: 'Add', inputs: ['x', 'x'], outputs: ['y'] }],
});

describe('several instances on one database', () => {
  let database: TestDatabase;
  let dataDir: string;
  let one: Service;
  let other: Service;
  let admin: Member;

  const start = (SERVICE_INSTANCE_NAME: string) =>
    Service.start({
      alone: 'it is one of several',
      databaseUrl: database.url,
      dataDir,
      env: { SERVICE_INSTANCE_NAME },
    });

  beforeAll(async () => {
    database = await freshDatabase();
    dataDir = await temporaryFolder();
    await mkdir(join(dataDir, 'models'));
    await writeFile(join(dataDir, 'models/doubling.onnx'), doubling);
    one = await start('one');
    other = await start('other');
    admin = await register(one, 'Ada');
  });
  afterAll(async () => {
    await Promise.all([one, other].map((service) => service?.stop()));
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const deploy = async (at: Service) => {
    const { status, body } = await at.post(path, admin.token, { name: 'doubling', model_path: 'doubling.onnx' });
    expect({ status, error: body.error }).toEqual({ status: 201, error: undefined });
    return body as { id: string; port: number; instance: string };
  };
  const read = async (at: Service, id: string) => (await at.get(`${path}/${id}`, admin.token)).body;
  const predict = (at: Service, id: string) =>
    at.post(`${path}/${id}/predict`, admin.token, { inputs: { x: [[1, 2]] } });
  const runtimeOf = (project: string) => `/v1/projects/${project}/runtime`;
  const chat = (at: Service, project: string, headers: Record<string, string> = {}) =>
    at.call('POST', completions(project), { token: admin.apiKey, json: ask(project, 'What is 7 + 5?'), headers });
  const runs = (at: Service, id: string) => until('it runs', async () => (await read(at, id)).status === 'running', 50);

  it('each serve a deployment by a process of their own, and end it everywhere', async () => {
    const { id, port, instance } = await deploy(one);
    expect(instance).toBe('one');
    const early = await predict(other, id);
    expect([200, 503]).toContain(early.status);
    if (early.status === 503) expect(early.body.code).toBe('runtime_loading');
    await runs(other, id);
    const there = await read(other, id);
    expect(there).toMatchObject({ status: 'running', instance: 'other', reason: null });
    expect(there.port).not.toBe(port);
    expect(await read(one, id)).toMatchObject({ status: 'running', port, instance: 'one' });
    for (const at of [one, other]) {
      expect(await predict(at, id)).toMatchObject({ status: 200, body: { outputs: { y: { data: [2, 4] } } } });
    }
    const children = [...descendants(one.pid), ...descendants(other.pid)];
    expect(children).toHaveLength(2);
    expect(await other.delete(`${path}/${id}`, admin.token)).toMatchObject({ status: 200, body: { deleted: true } });
    expect((await predict(one, id)).status).toBe(404);
    await untilGone(children);
  });

  it('each answer the chats of a runtime, and refuse them at once after a stop on another', async () => {
    const project = await readyProject(one, admin.token);
    await untilState(other, admin.token, project, 'ready');
    for (const at of [one, other]) {
      expect((await at.get(runtimeOf(project), admin.token)).body).toMatchObject({ state: 'ready', reason: null });
    }
    expect((await other.get(runtimeOf(project), admin.token)).body.instance).toBe('other');
    expect((await other.get('/v1/status', admin.token)).body.instance).toBe('other');
    const kept = await chat(other, project, { 'X-Conversation-Id': 'new' });
    expect(kept).toMatchObject({ status: 200, body: { choices: [{ message: { content: '7 + 5 = 12.' } }] } });
    const conversation = `/v1/projects/${project}/conversations/${kept.headers.get('x-conversation-id')}`;
    expect((await one.get(conversation, admin.token)).body.message_count).toBe(2);
    const children = [...descendants(one.pid), ...descendants(other.pid)];
    expect((await other.post(`${runtimeOf(project)}/stop`, admin.token)).body).toMatchObject({ state: 'stopped' });
    expect(await chat(one, project)).toMatchObject({ status: 503, body: { code: 'runtime_stopped' } });
    await untilGone(children);
    await other.post(`${runtimeOf(project)}/start`, admin.token);
    for (const at of [one, other]) await untilState(at, admin.token, project, 'ready');
    expect((await one.delete(`/v1/projects/${project}`, admin.token)).status).toBe(200);
    expect((await chat(other, project)).status).toBe(404);
    await until('no child is left', () => [one, other].every(({ pid }) => descendants(pid).length === 0));
  });

  it('go on without one that was killed, and it comes back with all that is desired', async () => {
    const { id } = await deploy(other);
    const project = await readyProject(other, admin.token);
    await runs(one, id);
    await untilState(one, admin.token, project, 'ready');
    await other.kill();
    for (let n = 0; n < 5; n++) {
      expect((await predict(one, id)).status).toBe(200);
      expect((await chat(one, project)).status).toBe(200);
    }
    other = await start('other');
    await runs(other, id);
    await untilState(other, admin.token, project, 'ready');
    expect((await chat(other, project)).status).toBe(200);
    expect([one, other].map(({ pid }) => descendants(pid).length)).toEqual([2, 2]);
  }, 180_000);
});
