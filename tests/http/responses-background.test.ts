import { Breakers } from '../../src/application/chat/breakers.js';
import { ChatRuntimes, ResponseRepository } from '../../src/application/chat/ports.js';
import { ResponseRunner } from '../../src/application/chat/response-runner.js';
import { RetryAfter } from '../../src/application/shared/retry-after.js';
import type { ChatRequest, CompletionPart } from '../../src/domain/chat/chat.js';
import { ModelBusy, RuntimeInvalidResponse } from '../../src/domain/chat/errors.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { closeBreakers } from '../support/closed-breakers.js';
import { query } from '../support/database.js';
import { type Member, password, readyProject, register } from '../support/workspace.js';
import { eventsOf } from './support/events.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const responses = '/openai/v1/responses';
const usage = { promptTokens: 7, cachedTokens: 2, completionTokens: 5 };
const end = { finishReason: 'stop', usage } as const;

describe('responses that are stored, fail or run in the background', () => {
  let app: TestApp;
  let admin: Member;
  let ready: string;
  let asked: ChatRequest[];
  let parts: (request: ChatRequest, signal: AbortSignal) => AsyncIterable<CompletionPart>;

  beforeAll(async () => {
    const model = {
      parts: (request: ChatRequest, signal: AbortSignal) => {
        asked.push(request);
        return parts(request, signal);
      },
    };
    app = await TestApp.start({
      adapt: (container) =>
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes({ 'tiny-chat': model })),
    });
    admin = await register(app, 'Ada');
    ready = await readyProject(app, admin.token);
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    asked = [];
    parts = saying('Hello', ' there');
    closeBreakers(app.container);
  });

  const saying = (...texts: string[]) =>
    async function* (): AsyncGenerator<CompletionPart> {
      for (const text of texts) yield { text };
      yield { text: '', end };
    };
  const breakingAfter = (error: Error, ...texts: string[]) =>
    async function* (): AsyncGenerator<CompletionPart> {
      for (const text of texts) yield { text };
      throw error;
    };
  const create = (over: object = {}, token = admin.apiKey) =>
    app.post(responses, token, { model: ready, input: 'Hi', ...over });
  const queued = async (over: object = {}) => (await create({ background: true, ...over })).body.id as string;
  const read = async (id: string) => (await app.get(`${responses}/${id}`, admin.apiKey)).body;
  const streamed = async (over: object = {}) => eventsOf((await create({ stream: true, ...over })).body);
  const replayed = async (id: string, after?: number) => {
    const rest = after === undefined ? '' : `&starting_after=${after}`;
    return eventsOf((await app.get(`${responses}/${id}?stream=true${rest}`, admin.apiKey)).body, (after ?? -1) + 1);
  };
  /** Runs the task of a response, as the work queue does. */
  const run = (id: string, signal = new AbortController().signal, number = 1) =>
    app.container.get(ResponseRunner).run({ response_id: id }, { number, signal });
  /** Leaves a response as an instance does that dies after it has stored these texts. */
  const broken = async (...texts: string[]) => {
    const id = await queued();
    const repository = app.container.get(ResponseRepository);
    const number = await repository.begin(id);
    for (const text of texts) await repository.append(id, number as number, [{ text }]);
    return id;
  };
  const deltas = (events: { type: string; delta?: string }[]) =>
    events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta);
  const newestJobs = async () => (await app.get('/v1/jobs?kind=chat&limit=1', admin.token)).body.jobs;

  it('stores no request that is too long, but answers it', async () => {
    const input = 'x'.repeat(8 * 1024 * 1024);
    for (const [param, over] of Object.entries({ store: {}, background: { background: true } }))
      expect(await create({ input, ...over })).toMatchObject({ status: 400, body: { error: { param } } });
    expect(asked).toEqual([]);
    expect(await create({ input, store: false, stream: true })).toMatchObject({ status: 200 });
  });

  it('refuses before the first event by a status, and fails after it by an event', async () => {
    parts = breakingAfter(new ModelBusy(2));
    expect(statusAndCode(await create({ stream: true }))).toBe('429 model_busy');
    for (const [error, code] of [
      [new ModelBusy(2), 'rate_limit_exceeded'],
      [new RuntimeInvalidResponse('odd'), 'server_error'],
    ] as const) {
      parts = breakingAfter(error, 'Hel');
      const last = (await streamed()).at(-1);
      expect(last).toMatchObject({ type: 'response.failed', response: { status: 'failed' } });
      expect(last.response.error).toEqual({ code, message: `${error.code}: ${error.message}` });
      expect(await read(last.response.id)).toMatchObject({ error: { code: 'not_found' } });
    }
  });

  it('answer at once, and get their answer from the work queue', async () => {
    const { status, body } = await create({ background: true });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: 'queued', background: true, output: [], usage: null, completed_at: null },
    });
    const tasks = await query<{ id: string }>(
      app.database.url,
      "SELECT payload->'payload'->>'response_id' AS id FROM graphile_worker._private_jobs",
    );
    expect(tasks.map(({ id }) => id)).toContain(body.id);
    expect(await read(body.id)).toEqual(body);
    await run(body.id);
    const done = await read(body.id);
    expect(done).toMatchObject({ status: 'completed', usage: { total_tokens: 12 } });
    expect(done.output[0].content[0].text).toBe('Hello there');
    expect((await newestJobs())[0]).toMatchObject({ status: 'succeeded', project_id: ready });
    await run(body.id); // a repeated run changes nothing
    expect(await read(body.id)).toEqual(done);
    expect(asked).toHaveLength(1);
    const [row] = await query<{ task: unknown }>(
      app.database.url,
      `SELECT task FROM responses WHERE id = '${body.id}'`,
    );
    expect(row?.task).toBeNull();
  });

  it('are streamed from any event on', async () => {
    const id = await queued();
    await run(id);
    const events = await replayed(id);
    expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
      ...['created', 'queued', 'in_progress', 'output_item.added', 'content_part.added', 'output_text.delta'],
      ...['output_text.done', 'content_part.done', 'output_item.done', 'completed'],
    ]);
    expect(events.at(-1)?.response).toEqual(await read(id));
    for (const [index] of events.entries()) expect(await replayed(id, index)).toEqual(events.slice(index + 1));
    expect(statusAndCode(await app.get(`${responses}/${id}?starting_after=1`, admin.apiKey))).toBe(
      '400 invalid_request',
    );
    const whole = (await create()).body.id;
    expect(statusAndCode(await app.get(`${responses}/${whole}?stream=true`, admin.apiKey))).toBe('400 invalid_request');
  });

  it('are streamed to the call that creates them', async () => {
    const creating = create({ background: true, stream: true });
    let id: string | undefined;
    while (id === undefined) {
      const rows = await query<{ id: string }>(app.database.url, "SELECT id FROM responses WHERE status = 'queued'");
      id = rows[0]?.id;
    }
    await run(id);
    const events = eventsOf((await creating).body);
    expect(events).toEqual(await replayed(id));
    expect(deltas(events).join('')).toBe('Hello there');
  });

  it('go on after a crash: readers see one answer if the model repeats itself', async () => {
    parts = saying('Hel', 'lo ', 'there', ', you');
    const id = await broken('Hello', ' th');
    const before = replayed(id);
    await run(id);
    const events = await before;
    expect(deltas(events)).toEqual(['Hello', ' th', 'ere, you']);
    expect(await replayed(id)).toEqual(events);
    expect((await read(id)).output).toMatchObject([{ content: [{ text: 'Hello there, you' }] }]);
  });

  it('begin anew after a crash if the model says something else', async () => {
    parts = saying('Help', ' me');
    const id = await broken('Hello', ' th');
    await run(id);
    const events = await replayed(id);
    const done = events.filter(({ type }) => type === 'response.output_item.done');
    expect(done.map(({ output_index, item }) => [output_index, item.status, item.content[0].text])).toEqual([
      [0, 'incomplete', 'Hello th'],
      [1, 'completed', 'Help me'],
    ]);
    expect((await read(id)).output).toEqual([done[1]?.item]);
  });

  it('fail with the code of the service', async () => {
    const error = new RuntimeInvalidResponse('odd');
    parts = breakingAfter(error, 'Hel');
    const id = await queued();
    await run(id);
    const failed = await read(id);
    const message = `runtime_invalid_response: ${error.message}`;
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'server_error', message } });
    expect(failed.output).toMatchObject([{ status: 'incomplete', content: [{ text: 'Hel' }] }]);
    expect((await replayed(id)).at(-1)).toMatchObject({ type: 'response.failed', response: failed });
  });

  it('name the fields of their API, also in failures after the first event', async () => {
    const said = (format: string, tokens: string) => `it breaks ${format}, see ${tokens}`;
    parts = breakingAfter(new RuntimeInvalidResponse(said('response_format.json_schema', 'max_tokens')), 'Hel');
    const message = expect.stringContaining(said('text.format', 'max_output_tokens'));
    expect((await streamed()).at(-1)).toMatchObject({ type: 'response.failed', response: { error: { message } } });
    const id = await queued();
    await run(id);
    expect(await read(id)).toMatchObject({ error: { message } });
  });

  it.each([
    [2, [2_000, 2_000, 2_000, 4_000, 8_000]],
    [60, [15_000, 15_000, 15_000, 15_000, 15_000]],
  ])('leave their places while a model is busy for %s s, and fail after three minutes', async (advised, first) => {
    parts = breakingAfter(new ModelBusy(advised), 'Hel');
    // The breaker would open, because no time passes between the attempts.
    jest.spyOn(app.container.get(Breakers), 'admits').mockReturnValue(true);
    const id = await queued();
    const pauses: number[] = [];
    for (let number = 1; (await read(id)).error === null; number++) {
      const attempt = run(id, undefined, number);
      await attempt.catch((error) => {
        if (!(error instanceof RetryAfter)) throw error;
        pauses.push(error.pauseMs);
      });
    }
    expect(pauses.slice(0, 5)).toEqual(first);
    const waited = pauses.reduce((sum, one) => sum + one, 0);
    expect(Math.abs(waited - 180_000)).toBeLessThan(5_000);
    expect(await read(id)).toMatchObject({
      error: { code: 'rate_limit_exceeded', message: expect.stringMatching(/^model_busy: /) },
      output: [{ status: 'incomplete', content: [{ text: 'Hel' }] }],
    });
    const [task] = await query<{ attempts: number }>(
      app.database.url,
      `SELECT (payload->>'maxAttempts')::int AS attempts FROM graphile_worker._private_jobs WHERE key = '${id}'`,
    );
    expect(task?.attempts).toBe(17);
    jest.restoreAllMocks();
  });

  it('try again soon after an outage of the database, also after many attempts', async () => {
    parts = breakingAfter(new StorageUnavailable(), 'Hel');
    const id = await queued();
    await expect(run(id, undefined, 9)).rejects.toMatchObject({ pauseMs: 15_000 });
    expect(await read(id)).toMatchObject({ status: expect.stringMatching(/^(queued|in_progress)$/), error: null });
  });

  it('are followed for a limited time, and go on without their stream', async () => {
    const id = await queued();
    const limited = await app.get(`${responses}/${id}?stream=true`, admin.apiKey);
    const [, queuedEvent, error, ...others] = limited.body.trimEnd().split('\n\n');
    expect(queuedEvent).toContain('"type":"response.queued","sequence_number":1,');
    expect(error).toMatch(/^event: error\ndata: \{"type":"error","sequence_number":1,"code":"inference_timeout",/);
    expect(others).toEqual([]);
    const silent = await app.get(`${responses}/${id}?stream=true&starting_after=1`, admin.apiKey);
    expect(statusAndCode(silent)).toBe('504 inference_timeout');
    await run(id);
    expect((await replayed(id, 1)).at(-1)).toMatchObject({ type: 'response.completed' });
  });

  it('fail as their jobs do if the database cannot store them at their end', async () => {
    const full = `
      CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'no space left' USING ERRCODE = '53100'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON responses
        FOR EACH ROW WHEN (NEW.status = 'completed') EXECUTE FUNCTION full_disk()`;
    const id = await queued();
    await query(app.database.url, full);
    const failed = { status: 'failed' };
    expect(statusAndCode(await create())).toBe('503 storage_unavailable');
    expect((await newestJobs())[0]).toMatchObject(failed);
    const { type, response } = (await streamed()).at(-1);
    expect([type, response.error.message]).toEqual([
      'response.failed',
      expect.stringMatching(/^storage_unavailable: /),
    ]);
    expect((await newestJobs())[0]).toMatchObject(failed);
    await expect(run(id)).rejects.toThrow('no space left');
    expect((await newestJobs())[0]).toMatchObject(failed);
    await query(app.database.url, 'DROP FUNCTION full_disk CASCADE');
    await run(id);
    expect(await read(id)).toMatchObject({ status: 'completed', output: [{ content: [{ text: 'Hello there' }] }] });
    expect((await newestJobs())[0]).toMatchObject({ status: 'succeeded' });
  });

  it('are cancelled, once or twice, and keep what they have', async () => {
    const id = await broken('Hello');
    const cancel = (of = id) => app.post(`${responses}/${of}/cancel`, admin.apiKey);
    const first = await cancel();
    expect(first).toMatchObject({ status: 200, body: { status: 'cancelled', output: [{ status: 'incomplete' }] } });
    expect(await cancel()).toMatchObject({ status: 200, body: first.body });
    await run(id);
    expect(await read(id)).toEqual(first.body);
    expect((await replayed(id)).at(-1)).toMatchObject({ type: 'response.incomplete', response: first.body });
    const foreground = (await create()).body.id;
    expect(statusAndCode(await cancel(foreground))).toBe('400 invalid_request');
    expect(statusAndCode(await cancel('resp_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11'))).toBe('404 not_found');
    const never = await queued();
    await cancel(never);
    expect((await replayed(never)).map(({ type }) => type)).toEqual([
      ...['response.created', 'response.queued', 'response.incomplete'],
    ]);
  });

  it('end with the API key that asked for them, queued or running', async () => {
    const { body } = await app.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const ask = async () => (await create({ background: true }, body.api_key)).body.id as string;
    const [running, waiting] = [await ask(), await ask()];
    let revoked = 0;
    parts = async function* (_, signal) {
      yield { text: 'Hello' };
      const keys = (await app.get('/v1/keys', admin.token)).body.keys;
      const { status } = await app.delete(`/v1/keys/${keys[0].id}`, admin.token);
      revoked = status;
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    await run(running);
    expect(revoked).toBe(200);
    const before = asked.length;
    await run(waiting);
    expect(asked).toHaveLength(before);
    const error = { code: 'server_error', message: expect.stringMatching(/^unauthenticated: /) };
    expect(await read(running)).toMatchObject({ status: 'failed', error, output: [{ status: 'incomplete' }] });
    expect(await read(waiting)).toMatchObject({ status: 'failed', error, output: [] });
  });

  it.each(['cancelled', 'deleted'])('stop the model when they are %s', async (how) => {
    const stopped = new Promise<void>((resolve) => {
      parts = async function* (_, signal) {
        yield { text: 'Hello' };
        await new Promise<void>((aborted) => signal.addEventListener('abort', () => aborted(), { once: true }));
        resolve();
        signal.throwIfAborted();
      };
    });
    const id = await queued();
    const running = run(id);
    while ((await read(id)).status !== 'in_progress');
    if (how === 'deleted') await app.delete(`${responses}/${id}`, admin.apiKey);
    else await app.post(`${responses}/${id}/cancel`, admin.apiKey);
    await stopped;
    await running;
    expect((await newestJobs())[0]).toMatchObject({ status: 'cancelled' });
  });

  it('run again if the instance shuts down', async () => {
    const shutdown = new AbortController();
    parts = async function* (_, signal) {
      yield { text: 'Hello' };
      shutdown.abort(new Error('the instance shuts down'));
      await new Promise<void>((aborted) => setTimeout(aborted, 5));
      signal.throwIfAborted();
    };
    const id = await queued();
    await expect(run(id, shutdown.signal)).rejects.toThrow('shuts down');
    expect((await read(id)).status).toBe('in_progress');
    parts = saying('Hello', ' there');
    await run(id);
    expect((await read(id)).output).toMatchObject([{ content: [{ text: 'Hello there' }] }]);
  });

  it('fail after the last attempt of the work queue', async () => {
    const id = await broken('Hel', 'lo');
    await app.container.get(ResponseRunner).gaveUp({ response_id: id }, 'its instance died');
    const output = [{ status: 'incomplete', content: [{ text: 'Hello' }] }];
    expect(await read(id)).toMatchObject({ status: 'failed', error: { code: 'server_error' }, output });
  });

  it('leaves no text in any table without store', async () => {
    const planted = 'a-planted-text';
    const { body } = await create({ input: planted, store: false, metadata: { planted } });
    expect(body).toMatchObject({ status: 'completed', store: false });
    expect(await rowsWith(planted)).toEqual([]);
    expect(await read(body.id)).toMatchObject({ error: { code: 'not_found' } });
    expect(statusAndCode(await create({ previous_response_id: body.id }))).toBe('400 previous_response_not_found');
    const stored = (await create({ input: planted })).body.id;
    expect(await rowsWith(planted)).toEqual(['responses']);
    await app.delete(`${responses}/${stored}`, admin.apiKey);
    expect(await rowsWith(planted)).toEqual([]);
  });

  /** Returns the tables with a row that has the text. */
  async function rowsWith(text: string): Promise<string[]> {
    const tables = await query<{ name: string }>(
      app.database.url,
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
        WHERE table_schema IN ('public', 'graphile_worker') AND table_type = 'BASE TABLE'`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await query(app.database.url, `SELECT FROM ${name} AS one WHERE one::text LIKE '%${text}%'`);
      if (rows.length > 0) found.push(name.replace('public.', ''));
    }
    return found;
  }
});
