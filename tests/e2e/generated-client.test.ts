import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiClient, apiClient, done, refused, type Schemas } from '../support/api-client.js';
import { credentialsIn } from '../support/credentials-in.js';
import { mailedToken } from '../support/mailbox.js';
import { FLOAT, onnxFile } from '../support/onnx/onnx-graph.js';
import { Service } from '../support/service.js';
import { until } from '../support/until.js';
import { password } from '../support/workspace.js';

const QUESTION = 'What is the capital of France?';
const ANSWER = 'The capital of France is Paris.';

const doubling = onnxFile({
  inputs: [['x', FLOAT, ['n', 2]]],
  outputs: [['y', FLOAT, ['n', 2]]],
  nodes: [{ op: 'Add', inputs: ['x', 'x'], outputs: ['y'] }],
});

/** Follows a new user from the registration to the logout. */
describe('a client generated from the OpenAPI document', () => {
  let service: Service;
  let stranger: ApiClient;
  let api: ApiClient;
  let byKey: ApiClient;
  let project: Schemas['Project'];
  let dataset: Schemas['Dataset'];
  let model: Schemas['Model'];
  let deployment: Schemas['Deployment'];

  const inProject = () => ({ path: { project_id: project.id } });
  const inDataset = () => ({ path: { project_id: project.id, dataset_id: dataset.id } });

  beforeAll(async () => {
    service = await Service.start({ alone: 'the log with the mails' });
    stranger = apiClient(service);
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
  });

  it('registers, verifies the e-mail and logs in', async () => {
    const body = { name: 'Ada', email: 'ada@example.com', password };
    const registered = await done(stranger.POST('/v1/auth/register', { body }));
    expect(registered.user).toMatchObject({ name: 'Ada', role: 'admin', email_verified: false });
    const token = await mailedToken(service, body.email, 'tnv');
    expect((await fetch(`${service.url}/verify-email?token=${token}`)).status).toBe(200);
    const verified = await done(stranger.POST('/v1/auth/verify-email', { body: { token } }));
    expect(verified.email_verified).toBe(true);
    const login = await done(stranger.POST('/v1/auth/login', { body }));
    api = apiClient(service, login.token);
    byKey = apiClient(service, login.api_key as string);
    const me = await done(api.GET('/v1/auth/me'));
    expect(me.id).toBe(registered.user.id);
    expect(await done(stranger.GET('/v1/auth/status'))).toMatchObject({ account_count: 1 });
  });

  it('gets a code with each refusal', async () => {
    const taken = await refused(
      stranger.POST('/v1/auth/register', { body: { name: 'Eve', email: 'ADA@example.com', password } }),
    );
    const code: 'email_taken' | undefined = 'code' in taken && taken.code === 'email_taken' ? taken.code : undefined;
    expect(code).toBe('email_taken');
    const unsigned = await refused(stranger.GET('/v1/projects'));
    expect(unsigned).toMatchObject({ status: 'error', code: 'unauthenticated' });
    expect(await refused(byKey.GET('/v1/projects'))).toMatchObject({ code: 'session_required' });
  });

  it('creates a project and updates it by its version', async () => {
    const created = await done(api.POST('/v1/projects', { body: { name: 'Capitals', spec: { goal: 'Know some' } } }));
    expect(created).toMatchObject({ name: 'Capitals', version: 1, runtime: { state: 'not_connected' } });
    const params = { path: { project_id: created.id } };
    const body = { version: created.version, spec: { goal: 'Know all', task: 'chat' } };
    project = await done(api.PUT('/v1/projects/{project_id}', { params, body }));
    expect(project).toMatchObject({ version: 2, spec: body.spec });
    const stale = await refused(api.PUT('/v1/projects/{project_id}', { params, body }));
    expect(stale.details?.[0]?.current).toBe(2);
    const header = { 'If-Match': '"1"' };
    expect(await refused(api.DELETE('/v1/projects/{project_id}', { params: { ...params, header } }))).toMatchObject({
      code: 'stale_version',
    });
    const listed = await done(api.GET('/v1/projects', { params: { query: { limit: 1 } } }));
    expect(listed.projects).toEqual([project]);
  });

  it('imports a dataset, corrects it and freezes it', async () => {
    const records = [
      { id: 'fr', group: 'europe', input: QUESTION, expected: 'Paris' },
      { id: 'jp', group: 'asia', input: 'What is the capital of Japan?', expected: '' },
    ];
    const datasets = '/v1/projects/{project_id}/datasets';
    dataset = await done(api.POST(datasets, { params: inProject(), body: { name: 'Capitals', records } }));
    expect(dataset.validation.findings.map(({ code }) => code)).toEqual(['empty_expected']);
    const freeze = () => api.POST(`${datasets}/{dataset_id}/freeze`, { params: inDataset() });
    expect(await refused(freeze())).toMatchObject({ code: 'dataset_invalid', details: [{ code: 'empty_expected' }] });
    const corrected = records.map((record) => ({ ...record, expected: record.expected || 'Tokyo' }));
    const body = { version: dataset.version, records: corrected };
    dataset = await done(api.PUT(`${datasets}/{dataset_id}`, { params: inDataset(), body }));
    dataset = await done(freeze());
    expect(dataset).toMatchObject({ state: 'frozen', version: 2, record_count: 2, validation: { valid: true } });
    const compared = await done(
      api.GET(`${datasets}/{dataset_id}/compare`, { params: { ...inDataset(), query: { with: '1' } } }),
    );
    expect(compared.changed).toMatchObject([{ id: 'jp', fields: ['expected'], before: { expected: '' } }]);
  });

  it('registers a model, connects it and starts it', async () => {
    const draft = { request_id: randomUUID(), spec: { runtime: 'onnx', path: 'tiny-chat' } };
    const create = () => api.POST('/v1/projects/{project_id}/models', { params: inProject(), body: draft });
    model = await done(create());
    expect(await done(create())).toEqual(model);
    const params = { path: { project_id: project.id, model_id: model.id } };
    const body = { version: model.version };
    model = await done(api.POST('/v1/projects/{project_id}/models/{model_id}/register', { params, body }));
    expect(model.state).toBe('registered');

    const runtime = '/v1/projects/{project_id}/runtime';
    await done(api.PUT(runtime, { params: inProject(), body: { model_id: model.id } }));
    await done(api.POST(`${runtime}/start`, { params: inProject() }));
    await until('the runtime is ready', async () => {
      const { state } = await done(api.GET(runtime, { params: inProject() }));
      return state === 'ready';
    });
  });

  it('chats with the API key, and finds its conversation', async () => {
    const body = { model: project.id, messages: [{ role: 'user' as const, content: QUESTION }] };
    const path = '/v1/projects/{project_id}/chat/completions';
    const params = { ...inProject(), header: { 'X-Conversation-Id': 'new' } };
    const { data, response } = await byKey.POST(path, { params, body });
    expect(data).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: project.id,
      choices: [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 16,
        completion_tokens: 9,
        total_tokens: 25,
        prompt_tokens_details: { cached_tokens: expect.any(Number) },
      },
    });
    const id = response.headers.get('X-Conversation-Id') as string;
    const kept = await done(
      api.GET('/v1/projects/{project_id}/conversations/{conversation_id}', {
        params: { path: { project_id: project.id, conversation_id: id } },
      }),
    );
    expect(kept.messages.map(({ content }) => content)).toEqual([QUESTION, ANSWER]);
    // @ts-expect-error: the document does not allow a stream either
    const streamed = byKey.POST(path, { params: inProject(), body: { ...body, stream: true } });
    expect(await refused(streamed)).toMatchObject({ code: 'streaming_unsupported' });
  });

  it('evaluates the dataset, and reads the result of each record', async () => {
    const body = { kind: 'evaluation', project_id: project.id, dataset_id: dataset.id } as const;
    let job = await done(byKey.POST('/v1/jobs', { body }));
    const params = { path: { job_id: job.id } };
    await until('the evaluation is over', async () => {
      job = await done(byKey.GET('/v1/jobs/{job_id}', { params }));
      return job.finished_at !== null;
    });
    expect(job).toMatchObject({ status: 'succeeded', progress: { done: 2, total: 2 } });
    const { results } = await done(byKey.GET('/v1/jobs/{job_id}/results', { params }));
    expect(results.map(({ record_id, expected, output }) => [record_id, expected, typeof output])).toEqual([
      ['fr', 'Paris', 'string'],
      ['jp', 'Tokyo', 'string'],
    ]);
  });

  it('uploads a model file, deploys it and sends a prediction', async () => {
    const file = await done(
      api.PUT('/v1/model-files/{path}', {
        params: { path: { path: 'made/doubling.onnx' } }, // the client encodes the slash
        body: '',
        bodySerializer: () => doubling,
        headers: { 'Content-Type': 'application/octet-stream' },
      }),
    );
    expect(file).toMatchObject({ path: 'made/doubling.onnx', kind: 'onnx', size: doubling.length });
    const body = { name: 'doubling', model_path: file.path };
    deployment = await done(api.POST('/v1/deployments', { body }));
    expect(deployment.status).toBe('running');
    const params = { path: { deployment_id: deployment.id } };
    const predict = (inputs: Schemas['Prediction']['inputs']) =>
      byKey.POST('/v1/deployments/{deployment_id}/predict', { params, body: { inputs } });
    const { outputs } = await done(predict({ x: [[1, 2.5]] }));
    expect(outputs).toEqual({ y: { data: [2, 5], shape: [1, 2], datatype: 'FP32' } });
    const inProtocol = await done(predict([{ name: 'x', shape: [1, 2], datatype: 'FP32', data: [1, 2.5] }]));
    expect(inProtocol.outputs).toEqual([{ name: 'y', datatype: 'FP32', shape: [1, 2], data: [2, 5] }]);
    expect(await refused(predict({ z: [[1, 2.5]] }))).toMatchObject({ code: 'invalid_request' });
    expect(await done(api.DELETE('/v1/deployments/{deployment_id}', { params }))).toEqual({
      id: deployment.id,
      deleted: true,
    });
  });

  it('gets an alert for a failed job, and acknowledges the alert', async () => {
    const rule = await done(
      api.POST('/v1/alerts/rules', {
        body: { name: 'training fails', rule_type: 'consecutive_failures', threshold: 1, job_kind: 'external' },
      }),
    );
    const job = await done(byKey.POST('/v1/jobs', { body: { kind: 'external', name: 'nightly training' } }));
    const params = { path: { job_id: job.id } };
    const body = { status: 'failed', error: 'out of memory' } as const;
    const failed = await done(byKey.PATCH('/v1/jobs/{job_id}', { params, body }));
    expect(failed).toMatchObject({ status: 'failed', error: 'out of memory', duration: expect.any(Number) });
    const { alerts } = await done(api.GET('/v1/alerts', { params: { query: { status: 'firing' } } }));
    expect(alerts).toMatchObject([{ rule_id: rule.id, job_id: job.id, severity: 'P1', acked_at: null }]);
    const acked = await done(
      api.POST('/v1/alerts/{alert_id}/ack', {
        params: { path: { alert_id: alerts[0]?.id as string } },
        body: { note: 'The disk was full.' },
      }),
    );
    expect(acked).toMatchObject({ status: 'acked', note: 'The disk was full.' });
    const jobs = await done(api.GET('/v1/jobs', { params: { query: { status: 'succeeded' } } }));
    expect(jobs.jobs.map(({ kind }) => kind).sort()).toEqual(['chat', 'evaluation', 'prediction', 'prediction']);
  });

  it('logs out of one session, and leaves no secret in the log', async () => {
    expect(await done(api.POST('/v1/auth/logout'))).toMatchObject({ deleted: true });
    expect(await refused(api.GET('/v1/auth/me'))).toMatchObject({ code: 'unauthenticated' });
    expect((await done(byKey.GET('/v1/jobs'))).count).toBeGreaterThan(0);
    const log = await readFile(join(service.dataDir, 'tenon.log'), 'utf8');
    expect(log).toContain('"event":"mail delivered"');
    expect(credentialsIn(log)).toEqual([]);
    expect(log).not.toContain(password);
  });
});
