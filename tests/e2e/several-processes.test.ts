import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { atOnce } from '../support/barrier.js';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import { FLOAT, onnxFile } from '../support/onnx/onnx-graph.js';
import { descendants, untilGone } from '../support/processes.js';
import { Service, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import {
  ask,
  completions,
  type Member,
  readyProject,
  register,
  startedProject,
  untilState,
} from '../support/workspace.js';

const path = '/v1/deployments';

const doubling = onnxFile({
  inputs: [['x', FLOAT, ['n', 2]]],
  outputs: [['y', FLOAT, ['n', 2]]],
  nodes: [{ op: 'Add', inputs: ['x', 'x'], outputs: ['y'] }],
});

describe('several processes on one database', () => {
  let database: TestDatabase;
  let dataDir: string;
  let one: Service;
  let other: Service;
  /** Comes when the others are there, and is killed before they end. */
  let third: Service;
  let admin: Member;

  const start = (SERVICE_PROCESS_NAME: string) =>
    Service.start({ alone: 'it is one of several', databaseUrl: database.url, dataDir, env: { SERVICE_PROCESS_NAME } });

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
    await Promise.all([one, other, third].map((service) => service?.stop()));
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const deploy = async (at: Service) => {
    const { status, body } = await at.post(path, admin.token, { name: 'doubling', model_path: 'doubling.onnx' });
    expect({ status, error: body.error }).toEqual({ status: 201, error: undefined });
    return body as { id: string; port: number; process: string };
  };
  const read = async (at: Service, id: string) => (await at.get(`${path}/${id}`, admin.token)).body;
  const predict = (at: Service, id: string) =>
    at.post(`${path}/${id}/predict`, admin.token, { inputs: { x: [[1, 2]] } });
  const runtimeOf = (project: string) => `/v1/projects/${project}/runtime`;
  const chat = (at: Service, project: string, headers: Record<string, string> = {}) =>
    at.call('POST', completions(project), { token: admin.apiKey, json: ask(project, 'What is 7 + 5?'), headers });
  /** How many processes of models a process of the service has started since it began. */
  const starts = (at: Service, id: string) =>
    at.errors.split('\n').filter((line) => /(deployment process|chat runtime) started/.test(line) && line.includes(id))
      .length;
  const runs = (at: Service, id: string) => until('it runs', async () => (await read(at, id)).status === 'running', 50);

  /** As proxies are asked: the host in the target means nothing here. */
  const viaWholeUrl = async (at: Service, target: string) => {
    const asked = request(at.url, { path: target, headers: { Authorization: `Bearer ${admin.token}` } }).end();
    const [{ statusCode }] = await once(asked, 'response');
    return statusCode;
  };

  it('answer for each other’s deployments, and end them for each other', async () => {
    const { id, port } = await deploy(one);
    const running = { status: 'running', port, process: 'one', reason: null };
    expect(await read(one, id)).toMatchObject(running);
    expect(await read(other, id)).toMatchObject(running);
    expect((await other.get(path, admin.token)).body.deployments).toMatchObject([running]);
    const answer = await predict(other, id);
    expect(answer).toMatchObject({ status: 200, body: { outputs: { y: { data: [2, 4] } } } });
    const refused = await other.call('POST', `${path}/${id}/predict`, {
      token: admin.token,
      json: { inputs: { z: [[1]] } },
      headers: { 'X-Request-Id': 'of-the-caller' },
    });
    expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_request', request_id: 'of-the-caller' } });
    const logs = `${path}/${id}/logs`;
    for (const host of ['127.0.0.1:1', 'nowhere:99999'])
      expect(await viaWholeUrl(other, `http://${host}${logs}?tail=1`)).toBe(200);
    expect((await other.get(logs, admin.token)).body).toEqual((await one.get(logs, admin.token)).body);
    const children = descendants(one.pid);
    expect(children.length).toBeGreaterThan(0);
    expect(await other.delete(`${path}/${id}`, admin.token)).toMatchObject({ status: 200, body: { deleted: true } });
    expect(descendants(one.pid)).toEqual([]);
    expect((await one.get(`${path}/${id}`, admin.token)).status).toBe(404);
  });

  it('answer chats for each other, as one', async () => {
    const project = await readyProject(one, admin.token);
    const ready = { state: 'ready', reason: null };
    expect((await other.get(runtimeOf(project), admin.token)).body).toMatchObject({ ...ready, process: 'one' });
    expect((await other.get(`/v1/projects/${project}`, admin.token)).body.runtime).toMatchObject(ready);
    const kept = await chat(other, project, { 'X-Conversation-Id': 'new' });
    expect(kept).toMatchObject({ status: 200, body: { choices: [{ message: { content: '7 + 5 = 12.' } }] } });
    // The call counts where it came in, and only there.
    expect(kept.headers.get('x-ratelimit-remaining-requests')).toMatch(/^\d+$/);
    const conversation = `/v1/projects/${project}/conversations/${kept.headers.get('x-conversation-id')}`;
    expect((await one.get(conversation, admin.token)).body.message_count).toBe(2);
    const wrong = { ...ask(project, 'x'), messages: [] };
    expect((await other.post(completions(project), admin.apiKey, wrong)).status).toBe(422);
    const children = descendants(one.pid);
    expect((await other.post(`${runtimeOf(project)}/stop`, admin.token)).body).toMatchObject({
      state: 'stopped',
      process: null,
    });
    await untilGone(children);
    expect(await chat(one, project)).toMatchObject({ status: 503, body: { code: 'runtime_stopped' } });
    await other.post(`${runtimeOf(project)}/start`, admin.token);
    await untilState(one, admin.token, project, 'ready');
    expect((await one.get(runtimeOf(project), admin.token)).body.process).toBe('other');
    expect((await chat(one, project)).status).toBe(200);
    expect((await one.delete(`/v1/projects/${project}`, admin.token)).status).toBe(200);
    expect(descendants(other.pid)).toEqual([]);
  });

  it('say of what cannot be reached whose it is', async () => {
    const { id } = await deploy(other);
    const project = await startedProject(other, admin.token);
    const movedTo = (url: string) => query(database.url, `UPDATE processes SET url = $1 WHERE name = 'other'`, [url]);
    await movedTo('http://127.0.0.1:1');
    third = await start('third');
    const unreachable = {
      status: 503,
      body: { code: 'runtime_unavailable', error: expect.stringContaining('process other') },
    };
    expect(await predict(third, id)).toMatchObject(unreachable);
    expect(await third.get(`${path}/${id}/logs`, admin.token)).toMatchObject(unreachable);
    expect(await chat(third, project)).toMatchObject(unreachable);
    const reason = expect.stringMatching(/process other .* cannot be asked/);
    expect(await read(third, id)).toMatchObject({ status: 'unhealthy', process: 'other', reason });
    const state = (await third.get(runtimeOf(project), admin.token)).body;
    expect(state).toMatchObject({ state: 'unavailable', process: 'other', reason });
    // Its owner finds out by itself, a moment later.
    const children = descendants(other.pid);
    expect((await third.delete(`${path}/${id}`, admin.token)).status).toBe(200);
    expect((await third.delete(`/v1/projects/${project}`, admin.token)).status).toBe(200);
    await until('its owner has found out', () => descendants(other.pid).length === 0);
    await untilGone(children);
    await movedTo(other.url);
  });

  it('take over what a process had that was killed, once; and what one leaves that ends', async () => {
    third ??= await start('third');
    const { id } = await deploy(third);
    const project = await readyProject(third, admin.token);
    await third.kill();
    const left = await read(one, id);
    if (left.process === 'third') expect(left.status).toBe('stopped'); // or it is taken over already
    await runs(one, id);
    await runs(other, id);
    await untilState(one, admin.token, project, 'ready');
    expect((await predict(one, id)).status).toBe(200);
    expect((await chat(other, project)).status).toBe(200);
    expect([starts(one, id) + starts(other, id), starts(one, project) + starts(other, project)]).toEqual([1, 1]);
    const { process } = await read(one, id);
    expect(['one', 'other']).toContain(process);

    // Both begin at once, when there is nobody else.
    await Promise.all([one.stop(), other.stop()]);
    const both = await atOnce(2, (party) => start(`of both: ${party}`.replace(/\W+/g, '-')));
    [one, other] = both as [Service, Service];
    await runs(one, id);
    await untilState(one, admin.token, project, 'ready');
    for (const service of both) expect((await predict(service, id)).status).toBe(200);
    for (const what of [id, project]) expect(starts(one, what) + starts(other, what)).toBe(1);
    expect(both.flatMap(({ pid }) => descendants(pid))).toHaveLength(2);

    expect(await other.stop()).toBe(0);
    await runs(one, id);
    await untilState(one, admin.token, project, 'ready');
    expect(descendants(one.pid)).toHaveLength(2);
  }, 180_000);
});
