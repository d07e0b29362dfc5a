import { OwnChats } from '../../src/application/chat/own-chats.js';
import { ResponseRunner } from '../../src/application/chat/response-runner.js';
import { breakingEarly, FailoverRig, silent } from '../support/failover-rig.js';
import { answering, chunk, type Script, sendEvents } from '../support/scripted-engine.js';
import { until } from '../support/until.js';
import { createProject, registeredModel } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';

/** Refuses the connection of one call: the answer never begins. */
const refusing: Script = (_, response) => void response.socket?.destroy();

const failures: readonly (readonly [what: string, script: Script, outcome: string])[] = [
  ['breaks the connection', refusing, 'runtime_unavailable'],
  ['breaks before its first content', breakingEarly, 'runtime_'],
  ['answers 429', answering(429, {}, { 'Retry-After': '7' }), 'model_busy'],
  ['answers 500', answering(500, {}), 'runtime_invalid_response'],
  ['answers 503', answering(503, {}), 'runtime_unavailable'],
  ['answers nothing in time', silent, 'inference_timeout'],
];

describe('a call to a runtime with a fallback', () => {
  let rig: FailoverRig;
  beforeAll(async () => {
    rig = await FailoverRig.start({ SERVICE_INFERENCE_TIMEOUT_S: '2' });
  });
  beforeEach(() => rig.reset());
  afterAll(() => rig.stop());

  it('goes to the first model, and names it in a header and in its job', async () => {
    const project = await rig.project();
    const answers = [await rig.chat(project), await rig.stream(project)];
    for (const { status, headers } of answers)
      expect([status, headers.get('x-model-id')]).toEqual([200, project.models[0]]);
    expect(await rig.job(project)).toMatchObject({
      model_id: project.models[0],
      attempts: [{ model_id: project.models[0], outcome: 'answered', ms: expect.any(Number) }],
    });
    expect(rig.engines.map(({ asked }) => asked.length)).toEqual([2, 0]);
  });

  it.each(failures)('is followed by the second model if the first one %s', async (_, script, outcome) => {
    const project = await rig.project();
    const [first, second] = project.models;
    rig.engines[0].script = script;
    const began = Date.now();
    const whole = await rig.chat(project);
    expect([whole.status, whole.headers.get('x-model-id')]).toEqual([200, second]);
    expect(whole.body.choices[0].message.content).toBe('second');
    expect(Date.now() - began).toBeLessThan(1_900);
    expect(await rig.job(project)).toMatchObject({
      status: 'succeeded',
      model_id: second,
      error: null,
      attempts: [
        { model_id: first, outcome: expect.stringContaining(outcome) },
        { model_id: second, outcome: 'answered' },
      ],
    });
  });

  it.each(failures)('is streamed by the second model if the first one %s', async (_, script) => {
    const project = await rig.project();
    rig.engines[0].script = script;
    const { status, headers, body } = await rig.stream(project);
    expect([status, headers.get('x-model-id')]).toEqual([200, project.models[1]]);
    expect(body).toContain('second');
    expect((await rig.job(project)).attempts).toHaveLength(2);
  });

  it('is refused by its fallback if no breaker admits it to the first model', async () => {
    const project = await rig.project();
    rig.engines[0].script = answering(500, {});
    for (let nth = 0; nth < 5; nth++) expect((await rig.chat(project)).status).toBe(200);
    rig.engines[1].script = answering(400, { error: { code: 'context_length_exceeded' } });
    const { status, body } = await rig.chat(project);
    expect([status, body.code]).toEqual([422, 'context_length_exceeded']);
    expect(rig.engines[0].asked).toHaveLength(5);
  });

  it('is never repeated after its first content', async () => {
    const project = await rig.project();
    rig.engines[0].script = (_, response) => {
      sendEvents(response, chunk('m', { role: 'assistant', content: 'Par' }));
      setTimeout(() => response.destroy(), 50);
    };
    const { status, headers, body } = await rig.stream(project);
    expect([status, headers.get('x-model-id')]).toEqual([200, project.models[0]]);
    expect(body).toContain('Par');
    expect(body).toContain('"code":"runtime_');
    expect(rig.engines[1].asked).toEqual([]);
    const { status: end, attempts } = await rig.job(project);
    expect([end, attempts.length]).toEqual(['failed', 1]);
  });

  it('is not repeated if the engine finds the request wrong', async () => {
    const project = await rig.project();
    rig.engines[0].script = answering(400, { error: { message: 'no such voice' } });
    expect((await rig.chat(project)).status).toBe(502);
    expect((await rig.stream(project)).status).toBe(400);
    expect(rig.engines[1].asked).toEqual([]);
  });

  it('is not repeated if its caller leaves', async () => {
    const project = await rig.project();
    rig.engines[0].script = silent;
    const leaving = new AbortController();
    const path = `/v1/projects/${project.id}/chat/completions`;
    const json = { model: project.id, messages: [{ role: 'user', content: 'Hi' }] };
    const answer = rig.app.call('POST', path, { token: rig.admin.apiKey, json, signal: leaving.signal });
    await rig.engines[0].wasAsked(1);
    leaving.abort();
    await answer.catch(() => undefined);
    let job = await rig.job(project);
    for (let i = 0; i < 100 && job?.status !== 'cancelled'; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      job = await rig.job(project);
    }
    expect(job).toMatchObject({
      status: 'cancelled',
      attempts: [{ model_id: project.models[0], outcome: 'cancelled' }],
    });
    expect(rig.engines[1].asked).toEqual([]);
  });

  it('fails with the last failure if all models fail, as one job', async () => {
    const project = await rig.project();
    rig.engines[0].script = answering(429, {}, { 'Retry-After': '7' });
    rig.engines[1].script = answering(500, {});
    expect(statusAndCode(await rig.chat(project))).toBe('502 runtime_invalid_response');
    const { jobs } = (await rig.app.get(`/v1/jobs?project_id=${project.id}`, rig.admin.token)).body;
    expect(jobs).toHaveLength(1);
    expect(jobs[0]).toMatchObject({
      status: 'failed',
      model_id: project.models[1],
      attempts: [{ outcome: 'model_busy' }, { outcome: 'runtime_invalid_response' }],
    });
  });

  it.each<[string, string, (model: string) => object]>([
    ['completions', '/openai/v1/completions', (model) => ({ model, prompt: 'Hi' })],
    [
      'Messages',
      '/openai/v1/messages',
      (model) => ({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
    ],
    ['Responses', '/openai/v1/responses', (model) => ({ model, input: 'Hi' })],
  ])('is followed and named in the dialect of %s', async (dialect, path, bodyOf) => {
    const project = await rig.project();
    for (const engine of rig.engines)
      engine.paths.chat = dialect === 'completions' ? '/completions' : '/chat/completions';
    rig.engines[0].script = answering(500, {});
    if (dialect === 'completions')
      rig.engines[1].script = answering(200, {
        ...{ id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm' },
        choices: [{ index: 0, text: 'second', finish_reason: 'stop' }],
      });
    for (const stream of dialect === 'completions' ? [false] : [false, true]) {
      const { status, headers, body } = await rig.app.post(path, rig.admin.apiKey, { ...bodyOf(project.id), stream });
      expect([status, headers.get('x-model-id')]).toEqual([200, project.models[1]]);
      expect(JSON.stringify(body)).toContain('second');
    }
    for (const engine of rig.engines) engine.paths.chat = '/chat/completions';
  });

  it('is followed for embeddings', async () => {
    const project = await rig.project();
    rig.engines[0].script = answering(500, {});
    const data = [{ object: 'embedding', index: 0, embedding: [1, 2] }];
    rig.engines[1].script = answering(200, {
      object: 'list',
      model: 'm',
      data,
      usage: { prompt_tokens: 1, total_tokens: 1 },
    });
    const json = { model: project.id, input: 'Hi' };
    const { status, headers } = await rig.app.post('/openai/v1/embeddings', rig.admin.apiKey, json);
    expect([status, headers.get('x-model-id')]).toEqual([200, project.models[1]]);
    expect(await rig.job(project)).toMatchObject({ kind: 'embedding', attempts: [{}, { outcome: 'answered' }] });
  });

  it('is followed for a response in the background', async () => {
    const project = await rig.project();
    rig.engines[0].script = answering(500, {});
    const json = { model: project.id, input: 'Hi', background: true };
    const { headers, body } = await rig.app.post('/openai/v1/responses', rig.admin.apiKey, json);
    expect(headers.get('x-model-id')).toBeNull();
    const attempt = { number: 1, signal: new AbortController().signal };
    await rig.app.container.get(ResponseRunner).run({ response_id: body.id }, attempt);
    const read = await rig.app.get(`/openai/v1/responses/${body.id}`, rig.admin.apiKey);
    expect(read.body).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'second' }] }] });
    expect(await rig.job(project)).toMatchObject({ model_id: project.models[1], attempts: [{}, {}] });
  });

  it('is followed for an evaluation', async () => {
    const project = await rig.project();
    rig.engines[0].script = answering(500, {});
    const request = { messages: [{ role: 'user' as const, content: 'Hi' }], maxTokens: 9, temperature: 0 };
    const own = {
      projectId: project.id,
      request,
      accountId: rig.admin.id,
      teamId: 'team_1',
      keyId: null,
      callId: 'job_own',
    };
    const { completion } = await rig.app.container.get(OwnChats).complete(own, new AbortController().signal);
    expect(completion.text).toBe('second');
  });

  it('costs by the prices of the model that has answered', async () => {
    const output = (price: number) => ({ prices: { input: 0, output: price } });
    const project = await rig.project(undefined, (engine) => output(100_000 * (engine + 1)));
    await rig.chat(project);
    expect(await rig.job(project)).toMatchObject({ model_id: project.models[0], cost: '0.600000000' });
    rig.engines[0].script = answering(500, {});
    await rig.chat(project);
    expect(await rig.job(project)).toMatchObject({ model_id: project.models[1], cost: '1.200000000' });
    await rig.stream(project);
    expect(await rig.job(project)).toMatchObject({ model_id: project.models[1], cost: '1.200000000' });
  });

  it('is answered by an ONNX model if the engine does not know the path', async () => {
    const { app, admin } = rig;
    const id = await createProject(app, admin.token);
    const elsewhere = await registeredModel(app, admin.token, id, {
      ...{ runtime: 'openai', model: 'm' },
      base_url: rig.engines[0].url.replace('/v1', '/v2'),
    });
    const onnx = await registeredModel(app, admin.token, id);
    const project = { id, models: [elsewhere, onnx] as const };
    await rig.put(project, { model_id: elsewhere, fallbacks: [onnx] });
    await app.post(`/v1/projects/${id}/runtime/start`, admin.token);
    for (let i = 0; i < 200; i++) {
      if ((await rig.targets(project)).every(({ state }: { state: string }) => state === 'ready')) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { status, headers } = await rig.chat(project, { max_tokens: 4 });
    expect([status, headers.get('x-model-id')]).toEqual([200, onnx]);
  });

  // The last test of the file, because the engine does not come back.
  it('goes to the second model while the first engine is gone', async () => {
    const project = await rig.project();
    await rig.engines[0].close();
    for (const answer of [await rig.chat(project), await rig.stream(project), await rig.chat(project)])
      expect([answer.status, answer.headers.get('x-model-id')]).toEqual([200, project.models[1]]);
    await until('the first model is unavailable', async () => (await rig.targets(project))[0].state === 'unavailable');
    expect((await rig.targets(project))[0]).toMatchObject({ reason: 'the engine refuses connections' });
    await rig.chat(project);
    expect((await rig.job(project)).attempts).toMatchObject([{ model_id: project.models[1], outcome: 'answered' }]);
  });
});
