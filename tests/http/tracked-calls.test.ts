import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import type { ChatRequest } from '../../src/domain/chat/chat.js';
import { InferenceTimeout } from '../../src/domain/chat/errors.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { as, masterKey } from '../support/monitoring.js';
import { until as eventually } from '../support/until.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  register,
  registeredModel,
  untilState,
} from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const never = () => new Promise<never>(() => undefined);

describe('the job of a call', () => {
  let app: TestApp;
  let admin: Member;
  let project: string;
  let model: string;
  let deployment: string;
  /** A callback for the moment when the model begins to work. */
  let begun: () => void = () => undefined;

  const answer = async ({ messages }: ChatRequest) => {
    begun();
    const word = messages.at(-1)?.content;
    app.clock.advance(1_500);
    if (word === 'nonsense') return { not: 'a completion' };
    if (word === 'late') throw new InferenceTimeout(1);
    if (word === 'crash') setImmediate(() => runtimes.crash(`${project}/${model}`));
    return word === 'crash' || word === 'hang' ? never() : 'fine';
  };
  const runtimes = new MemoryChatRuntimes({ fake: { answer } }, { queue: 0 });

  const predicted = async (body: string): Promise<unknown> => {
    begun();
    app.clock.advance(250);
    const { do: command } = JSON.parse(body);
    if (command === 'refuse')
      return { status: 422, text: '{"status":"error","code":"invalid_request","error":"x","request_id":"x"}' };
    if (command === 'page') return '<p>';
    if (command === 'late') throw new InferenceTimeout(1);
    return command === 'hang' ? never() : { status: 200, text: '{"outputs":{}}' };
  };
  const servers = new MemoryModelServer(predicted);

  beforeAll(async () => {
    app = await TestApp.start({
      env: { SERVICE_MASTER_KEY: masterKey },
      adapt: (container) => {
        container.rebind(ChatRuntimes).toConstantValue(runtimes);
        container.rebind(ModelServer).toConstantValue(servers);
      },
    });
    admin = await register(app, 'Ada');
    project = await createProject(app, admin.token);
    model = await registeredModel(app, admin.token, project, { runtime: 'onnx', path: 'fake' });
    const runtime = `/v1/projects/${project}/runtime`;
    await app.put(runtime, admin.token, { model_id: model });
    await app.post(`${runtime}/start`, admin.token);
    await untilState(app, admin.token, project, 'ready');
    const { body } = await app.post('/v1/deployments', admin.token, { name: 'iris', model_path: 'iris.onnx' });
    deployment = body.id;
  });
  afterAll(() => app.stop());
  afterEach(() => {
    begun = () => undefined;
  });

  const chat = (word: string, signal?: AbortSignal) =>
    app.call('POST', completions(project), { token: admin.apiKey, json: ask(project, word), signal });
  const predict = (command: string, signal?: AbortSignal) =>
    app.call('POST', `/v1/deployments/${deployment}/predict`, { token: masterKey, json: { do: command }, signal });
  const newest = async (kind: string, limit = 1) =>
    (await as(app, admin.token).get(`/v1/jobs?kind=${kind}&limit=${limit}`)).jobs;
  const count = async (kind: string) => (await newest(kind, 1_000)).length;

  /** Waits until the model has begun. Returns a function that disconnects the caller. */
  async function hanging(call: (signal: AbortSignal) => Promise<unknown>): Promise<() => Promise<void>> {
    const leaving = new AbortController();
    const working = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const answered = call(leaving.signal);
    answered.catch(() => undefined);
    await working;
    return async () => {
      leaving.abort();
      await expect(answered).rejects.toThrow();
    };
  }
  async function until(kind: string, status: string): Promise<void> {
    await eventually(`a ${kind} is ${status}`, async () => (await newest(kind))[0]?.status === status);
  }

  it('succeeds if the call is answered', async () => {
    expect((await chat('Hi')).status).toBe(200);
    expect(await newest('chat')).toEqual([
      {
        id: expect.stringMatching(/^job_/),
        kind: 'chat',
        mode: 'sync',
        status: 'succeeded',
        name: null,
        project_id: project,
        dataset_id: null,
        model_id: model,
        requested_by: admin.id,
        created_at: expect.any(Number),
        started_at: expect.any(Number),
        finished_at: expect.any(Number),
        duration: 1.5,
        progress: { done: 1, total: 1 },
        result: null,
        error: null,
        usage: {
          ...{ tokens_in: expect.any(Number), tokens_out: expect.any(Number), time_to_first_token: null },
          ...{ calls: null, seconds: null },
        },
        cost: null,
        currency: 'USD',
        attempts: [{ model_id: model, outcome: 'answered', ms: 1_500 }],
      },
    ]);
    const { usage } = await as(app, admin.token).get('/v1/usage?group_by=key');
    expect(usage).toMatchObject([{ group: expect.stringMatching(/^key_/), calls: 1, tokens_in: expect.any(Number) }]);
    expect((await predict('work')).status).toBe(200);
    expect(await newest('prediction')).toMatchObject([
      { mode: 'sync', status: 'succeeded', name: 'iris', requested_by: 'master', duration: 0.25, project_id: null },
    ]);
  });

  it('fails if the call fails after its admission, and fires an alert before the answer is sent', async () => {
    const rules = ['chat', 'prediction'].map((job_kind) => as(app, masterKey).rule({ threshold: 1, job_kind }));
    await Promise.all(rules);
    expect(await chat('nonsense')).toMatchObject({ status: 502 });
    expect(await newest('chat')).toMatchObject([
      { status: 'failed', error: expect.stringMatching(/^runtime_invalid_response: /) },
    ]);
    expect(await as(app, masterKey).alerts()).toHaveLength(1);
    expect(await chat('late')).toMatchObject({ status: 504 });
    expect(await newest('chat')).toMatchObject([
      { status: 'failed', error: expect.stringMatching(/^inference_timeout: /) },
    ]);
    expect(await chat('crash')).toMatchObject({ status: 503, body: { code: 'runtime_unavailable' } });
    expect(await newest('chat')).toMatchObject([
      { status: 'failed', error: expect.stringMatching(/^runtime_unavailable: /) },
    ]);
    expect(await as(app, masterKey).alerts()).toHaveLength(1);
    expect(await predict('page')).toMatchObject({ status: 502 });
    expect(await predict('late')).toMatchObject({ status: 504 });
    expect(await newest('prediction', 2)).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
    expect(await as(app, masterKey).alerts()).toHaveLength(2);
    await untilState(app, admin.token, project, 'ready');
  });

  it('is cancelled if the caller disconnects', async () => {
    const leaveChat = await hanging((signal) => chat('hang', signal));
    await until('chat', 'running');
    await leaveChat();
    await until('chat', 'cancelled');
    const leavePrediction = await hanging((signal) => predict('hang', signal));
    await leavePrediction();
    await until('prediction', 'cancelled');
  });

  it('is not created if the call is refused', async () => {
    const [chats, predictions] = [await count('chat'), await count('prediction')];
    const leave = await hanging((signal) => chat('hang', signal));
    expect(await chat('Hi')).toMatchObject({ status: 429 });
    expect(await chat('word '.repeat(300))).toMatchObject({ status: 422 });
    await leave();
    await until('chat', 'cancelled');
    expect(await predict('refuse')).toMatchObject({ status: 422 });
    await app.post(`/v1/projects/${project}/runtime/stop`, admin.token);
    expect(await chat('Hi')).toMatchObject({ status: 503 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await count('chat')).toBe(chats + 1); // only the call that hung
    expect(await count('prediction')).toBe(predictions);
  });
});
