import { randomUUID } from 'node:crypto';
import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Starter } from '../../src/domain/workspace/starter.js';
import { ended, evaluatedProject } from '../support/evaluations.js';
import { as, type Cast, castOf, masterKey } from '../support/monitoring.js';
import { descendants } from '../support/processes.js';
import { Service, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  readyProject,
  registeredModel,
  untilState,
} from '../support/workspace.js';

const projects = '/v1/projects';

interface Line {
  readonly event: string;
  readonly request_id?: string;
  readonly job_id?: string;
  readonly status?: string;
}

let models: string;
let service: Service;
let cast: Cast;
let admin: Member;
/** Names a project with a ready runtime. */
let ready: string;

beforeAll(async () => {
  models = await temporaryFolder();
  await cp('models/tiny-chat', join(models, 'tiny-chat'), { recursive: true });
  await cp('models/tiny-chat', join(models, 'broken'), { recursive: true });
  await rm(join(models, 'broken/tokenizer.json'));
  const env = {
    SERVICE_MASTER_KEY: masterKey,
    SERVICE_MAX_ACCOUNTS: '6',
    SERVICE_MODELS_DIR: models,
    SERVICE_INFERENCE_TIMEOUT_S: '4',
    SERVICE_CHAT_QUEUE: '1',
  };
  service = await Service.start({ env });
  cast = await castOf(service);
  admin = cast.admin;
  ready = await readyProject(service, admin.token);
});
afterAll(async () => {
  await service.stop();
  await rm(models, { recursive: true, force: true });
});

const chat = (content: string, { project = ready, token = admin.apiKey } = {}) =>
  service.post(completions(project), token, ask(project, content));

describe('chat with the shipped model', () => {
  it('answers every account of the team, with a session or a key', async () => {
    for (const token of [admin.token, admin.apiKey, cast.member.token, cast.member.apiKey]) {
      const { status, body } = await chat('What is 7 + 5?', { token });
      expect({ status, text: body.choices[0].message.content }).toEqual({ status: 200, text: '7 + 5 = 12.' });
    }
  });

  it('connects only a registered model with a folder below the models folders', async () => {
    const project = await createProject(service, admin.token);
    const runtime = `${projects}/${project}/runtime`;
    const connect = (model_id: unknown) => service.put(runtime, admin.token, { model_id });
    const { body: draft } = await service.post(`${projects}/${project}/models`, admin.token, {
      request_id: randomUUID(),
      spec: { runtime: 'onnx', path: 'tiny-chat' },
    });
    expect(await connect(draft.id)).toMatchObject({
      status: 422,
      body: { code: 'invalid_request', details: [{ path: 'model_id' }] },
    });
    expect(await connect('mdl_unknown')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const elsewhere = await registeredModel(service, admin.token, ready);
    expect(await connect(elsewhere)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const specs: [object, string][] = [
      [{}, 'spec.runtime'],
      [{ runtime: 'magic', path: 'tiny-chat' }, 'spec.runtime'],
      [{ runtime: 'onnx', path: '../src' }, 'spec.path'],
      [{ runtime: 'onnx', path: '/etc' }, 'spec.path'],
      [{ runtime: 'onnx', path: 'nothing-here' }, 'spec.path'],
      [{ runtime: 'onnx', path: '.' }, 'spec.path'],
    ];
    for (const [spec, path] of specs) {
      const { status, body } = await connect(await registeredModel(service, admin.token, project, spec));
      expect({ spec, status, path: body.details?.[0].path }).toEqual({ spec, status: 422, path });
    }
    expect((await service.get(runtime, admin.token)).body.state).toBe('not_connected');
  });

  it('refuses calls when its queue is full or the model hangs, blocks nothing else, and recovers', async () => {
    const [model] = service.pids.flatMap(descendants) as [number];
    process.kill(model, 'SIGSTOP');
    const calls = Array.from({ length: 40 }, () => chat('What is 1 + 1?'));
    expect((await Promise.race(calls)).status).toBe(429);
    for (let n = 0; n < 20; n++) expect((await service.get('/health/live')).status).toBe(200);
    const late = await Promise.any(
      calls.map(async (call) => ((await call).status === 504 ? call : Promise.reject(new Error('it was in time')))),
    );
    process.kill(model, 'SIGCONT');
    expect(late.body.code).toBe('inference_timeout');
    expect(late.headers.get('x-should-retry')).toBe('false');
    const busy = (await Promise.all(calls)).filter(({ status }) => status === 429);
    for (const { body, headers } of busy) {
      expect(body.code).toBe('model_busy');
      expect(headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
    }
    expect((await service.get(`${projects}/${ready}/runtime`, admin.token)).body.state).toBe('ready');
    await until('it answers', async () => (await chat('What is 1 + 1?')).status === 200);
  });

  it('answers other calls after a caller disconnects', async () => {
    const goner = new AbortController();
    const json = ask(ready, 'Count from 1 to 50.');
    const gone = service.call('POST', completions(ready), { token: admin.apiKey, json, signal: goner.signal });
    goner.abort();
    await expect(gone).rejects.toThrow();
    await until('it answers', async () => (await chat('What is 1 + 1?')).status === 200);
  });

  it('is unavailable with a reason if its model is broken, and the service continues', async () => {
    const project = await createProject(service, admin.token);
    const model = await registeredModel(service, admin.token, project, { runtime: 'onnx', path: 'broken' });
    const runtime = `${projects}/${project}/runtime`;
    await service.put(runtime, admin.token, { model_id: model });
    await service.post(`${runtime}/start`, admin.token);
    await untilState(service, admin.token, project, 'unavailable');
    expect((await service.get(runtime, admin.token)).body.reason).toContain('tokenizer.json');
    const answer = await chat('Hi', { project });
    expect(answer).toMatchObject({ status: 503, body: { code: 'runtime_unavailable' } });
    await service.post(`${runtime}/stop`, admin.token);
    await rm(join(models, 'broken'), { recursive: true });
    const gone = await service.post(`${runtime}/start`, admin.token);
    expect(gone).toMatchObject({ status: 422, body: { code: 'invalid_request', details: [{ path: 'spec.path' }] } });
    expect((await service.get(runtime, admin.token)).body.state).toBe('stopped');
  });
});

describe('the review of a project', () => {
  const plan = (id: string, json: object = { version: 1 }) => service.post(`${projects}/${id}/plan`, admin.token, json);
  const codes = async (id: string, version = 1) =>
    (await plan(id, { version })).body.findings.map(
      (one: { level: string; code: string }) => `${one.level} ${one.code}`,
    );
  const statusOf = async (id: string) => {
    const { status, reviewed_version, version } = (await service.get(`${projects}/${id}`, admin.token)).body;
    return { status, reviewed_version, version };
  };

  it('leads step by step from a starter to a project that is complete', async () => {
    const created = await service.post(projects, admin.token, { starter_id: 'capital-cities' });
    const { id, spec } = created.body;
    const first = await plan(id);
    expect(first).toMatchObject({ status: 200, body: { project_id: id, version: 1, ready: true } });
    expect(first.body.findings.map((one: { code: string }) => one.code)).toEqual(['dataset_missing', 'model_missing']);
    expect((await plan(id)).body).toEqual(first.body);
    expect(await statusOf(id)).toEqual({ status: 'reviewed', reviewed_version: 1, version: 1 });

    const datasets = `${projects}/${id}/datasets`;
    const dataset = (await service.post(datasets, admin.token, { starter_id: 'capital-cities' })).body;
    await service.put(`${projects}/${id}`, admin.token, { version: 1, spec: { ...spec, dataset_id: dataset.id } });
    expect(await statusOf(id)).toEqual({ status: 'draft', reviewed_version: 1, version: 2 });
    expect(await codes(id, 2)).toEqual(['warning dataset_editable', 'warning model_missing']);
    await service.post(`${datasets}/${dataset.id}/freeze`, admin.token);
    expect(await codes(id, 2)).toEqual(['warning model_missing']);

    const models = `${projects}/${id}/models`;
    const model = { request_id: randomUUID(), spec: { runtime: 'onnx', path: 'tiny-chat' } };
    const draft = (await service.post(models, admin.token, model)).body;
    expect(await codes(id, 2)).toEqual(['warning model_unregistered']);
    await service.post(`${models}/${draft.id}/register`, admin.token, { version: 1 });
    expect(await codes(id, 2)).toEqual(['warning runtime_not_connected']);
    await service.put(`${projects}/${id}/runtime`, admin.token, { model_id: draft.id });
    expect(await codes(id, 2)).toEqual(['warning runtime_stopped']);
    await service.post(`${projects}/${id}/runtime/start`, admin.token);
    await untilState(service, admin.token, id, 'ready');
    const last = (await plan(id, { version: 2 })).body;
    expect(last).toMatchObject({
      ready: true,
      findings: [{ level: 'info', code: 'evaluation_missing' }],
      next_steps: [expect.stringContaining('POST /v1/jobs')],
    });

    const asked = { kind: 'evaluation', project_id: id, dataset_id: dataset.id };
    const { body: job } = await service.post('/v1/jobs', admin.token, asked);
    const { result } = await ended(service, admin.token, job.id);
    expect(result.accuracy).toBeGreaterThan(0.9);
    expect((await plan(id, { version: 2 })).body).toMatchObject({
      ready: true,
      findings: [
        { level: 'info', code: 'acceptance_met', message: expect.stringContaining(`of ${result.count} records`) },
      ],
      next_steps: [expect.stringContaining('/chat/completions')],
    });
    expect(await statusOf(id)).toEqual({ status: 'reviewed', reviewed_version: 2, version: 2 });
  });

  it('finds that the shipped model reaches the threshold of the starter exact-repetition', async () => {
    const file = join(__dirname, '../../starters/exact-repetition.json');
    const { spec, dataset } = JSON.parse(await readFile(file, 'utf8')) as Starter;
    const model = { runtime: 'onnx', path: 'tiny-chat' };
    const evaluated = await evaluatedProject(service, admin.token, { spec, model, rows: dataset.records });
    const asked = { kind: 'evaluation', project_id: evaluated.project, dataset_id: evaluated.dataset };
    const { body: job } = await service.post('/v1/jobs', admin.token, asked);
    const { result } = await ended(service, admin.token, job.id);
    expect(result.accuracy).toBeGreaterThanOrEqual((spec.acceptance as { threshold: number }).threshold);
  });

  it('compares a field of answers in JSON, and counts the valid answers', async () => {
    const properties = { sum: { type: 'integer', minimum: 12, maximum: 12 }, isEven: { type: 'boolean' } };
    const schema = { type: 'object', properties, required: ['sum', 'isEven'], additionalProperties: false };
    const response_format = { type: 'json_schema', json_schema: { name: 'sum', schema, strict: true } };
    const rows = [12, 13].map((expected) => ({ id: `r${expected}`, input: 'What is 7 + 5?', expected }));
    const model = { runtime: 'onnx', path: 'tiny-chat' };
    const spec = { response_format, acceptance: { metric: 'exact', field: 'sum', threshold: 0.5 } };
    const { project, dataset } = await evaluatedProject(service, admin.token, { spec, model, rows });
    const evaluate = async () => {
      const asked = { kind: 'evaluation', project_id: project, dataset_id: dataset };
      const { body: job } = await service.post('/v1/jobs', admin.token, asked);
      return (await ended(service, admin.token, job.id)).result;
    };
    expect(await evaluate()).toMatchObject({ metric: 'exact', field: 'sum', count: 2, right: 1 });
    const counted = { ...spec, acceptance: { metric: 'json_schema', threshold: 1 } };
    await service.put(`${projects}/${project}`, admin.token, { version: 1, spec: counted });
    expect(await evaluate()).toMatchObject({ metric: 'json_schema', count: 2, right: 2 });
  });
});

describe('the log over HTTP', () => {
  const read = async (query = '', token = masterKey) => {
    const { status, body } = await service.get(`/v1/logs${query}`, token);
    return { status, body, lines: ((body.lines ?? []) as string[]).map((line) => JSON.parse(line) as Line) };
  };

  /** Reads until `seen` is true, because the line of a request may come after its answer. */
  async function untilSeen(query: string, seen: (lines: readonly Line[]) => boolean): Promise<Line[]> {
    let lines: Line[] = [];
    await until(
      `the lines of ${query}`,
      async () => {
        ({ lines } = await read(query));
        return seen(lines);
      },
      50,
    );
    return lines;
  }

  it('shows operators the newest lines, with any role and credential', async () => {
    const { admin, developer, member } = cast;
    for (const token of [admin.token, admin.apiKey, developer.token, member.token, member.apiKey, masterKey]) {
      const { status, body } = await read('', token);
      expect(status).toBe(200);
      expect(body).toEqual({
        lines: expect.any(Array),
        count: body.lines.length,
        file: join(service.dataDir, 'tenon.log'),
      });
      expect(body.count).toBeGreaterThan(0);
    }
    const { status, body } = await read('', cast.regular.token);
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'operator_only' });
  });

  it('shows the requested number of lines, 200 by default and 10000 at most, oldest first', async () => {
    await Promise.all(Array.from({ length: 250 }, () => service.get('/v1/auth/status')));
    const { lines } = await read('?tail=10000');
    expect(lines.length).toBeGreaterThanOrEqual(250);
    expect(lines.findIndex(({ event }) => event === 'ready')).toBeLessThan(lines.length - 100);
    for (const tail of ['1', '2', '007']) expect((await read(`?tail=${tail}`)).body.count).toBe(Number(tail));
    expect((await read()).body.count).toBe(200);
    for (const tail of ['10001', '1000000000', '9'.repeat(400)]) {
      const { status, body } = await read(`?tail=${tail}`);
      expect(status).toBe(200);
      expect(body.count).toBeGreaterThanOrEqual(250);
    }
  });

  it.each([
    ['tail=0', 'tail'],
    ['tail=-1', 'tail'],
    ['tail=1.5', 'tail'],
    ['tail=abc', 'tail'],
    ['tail=', 'tail'],
    ['tail=1e3', 'tail'],
    ['tail=%201', 'tail'],
    ['tail=1&tail=2', 'tail'],
    [`job_id=${'a'.repeat(101)}`, 'job_id'],
    ['job_id=a&job_id=b', 'job_id'],
  ])('refuses %s', async (query, field) => {
    const { status, body } = await read(`?${query}`);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details).toMatchObject([{ path: field }]);
  });

  it('shows the lines of a job, each with the id of its request', async () => {
    const call = async (requestId: string, method: string, path: string, json: object) =>
      (await service.call(method, path, { token: cast.admin.token, json, headers: { 'X-Request-Id': requestId } }))
        .body;
    const { id } = await call('one', 'POST', '/v1/jobs', { kind: 'external', name: 'nightly', status: 'queued' });
    await call('two', 'PATCH', `/v1/jobs/${id}`, { status: 'running' });
    await call('three', 'PATCH', `/v1/jobs/${id}`, { status: 'failed', error: 'no' });
    const { id: other } = await as(service, cast.admin.token).ended('succeeded');
    const summary = ({ event, request_id, job_id, status }: Line) => ({ event, request_id, job_id, status });
    const story = (await untilSeen(`?job_id=${id}`, (lines) => lines.length >= 5)).map(summary);
    expect(story.filter(({ event }) => event !== 'request')).toEqual([
      { event: 'job recorded', request_id: 'one', job_id: id, status: 'queued' },
      { event: 'job reported', request_id: 'two', job_id: id, status: 'running' },
      { event: 'job ended', request_id: 'three', job_id: id, status: 'failed' },
    ]);
    expect(story.filter(({ event }) => event === 'request').map(({ request_id }) => request_id)).toEqual([
      'two',
      'three',
    ]);
    expect((await read(`?job_id=${id}&tail=1`)).lines).toHaveLength(1);
    expect(JSON.stringify((await read(`?job_id=${other}`)).lines)).not.toContain(id);
    for (const nothing of ['', 'nothing', id.slice(0, -1), `${id}0`, 'ж'.repeat(100)]) {
      expect(await read(`?job_id=${nothing}`)).toMatchObject({ status: 200, body: { lines: [], count: 0 } });
    }
  });

  it('shows a chat with the ids of its job and its request', async () => {
    const headers = { 'X-Request-Id': 'a-chat' };
    const json = ask(ready, 'Hi', { max_tokens: 4 });
    expect((await service.call('POST', completions(ready), { token: admin.token, json, headers })).status).toBe(200);
    const [{ id }] = (await as(service, admin.token).get('/v1/jobs?kind=chat')).jobs;
    const about = { job_id: id, request_id: 'a-chat', kind: 'chat' };
    const { lines } = await read(`?job_id=${id}`);
    expect(lines.at(-1)).toMatchObject({ event: 'job ended', status: 'succeeded', ...about });
    // Only a long call has a line for its beginning.
    for (const line of lines.slice(0, -1)) expect(line).toMatchObject({ event: 'job began', ...about });
  });

  it('has no line that was forged with a name', async () => {
    const forged =
      'a\n{"time":"2020-01-01T00:00:00.000Z","level":"info","event":"forged"}\r\n\u001b[2J\u009b2Jb\u2028c';
    const token = cast.admin.token;
    await service.post('/v1/projects', token, { name: forged, spec: {} });
    await service.post('/v1/deployments', token, { name: forged, model_path: forged });
    await service.post('/v1/jobs', token, { kind: 'external', name: forged });
    await service.get(`/v1/projects/${encodeURIComponent(forged)}`, token);
    await service.call('GET', '/v1/auth/status', { headers: { 'X-Request-Id': 'last' } });
    await untilSeen('?tail=10000', (lines) => lines.some(({ request_id }) => request_id === 'last'));
    const { body, lines } = await read('?tail=10000');
    expect(lines.map(({ event }) => event)).not.toContain('forged');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters must not be there.
    for (const line of body.lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
  });

  it('shows none of the secrets that were sent', async () => {
    const { body } = await read('?tail=10000');
    const text = body.lines.join('\n');
    for (const secret of [masterKey, 'correct horse', cast.admin.token, cast.admin.apiKey]) {
      expect(text).not.toContain(secret);
    }
  });
});
