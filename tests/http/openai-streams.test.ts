import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { ServiceSettings } from '../../src/application/shared/ports.js';
import type { ChatRequest, CompletionPart } from '../../src/domain/chat/chat.js';
import {
  ContextLengthExceeded,
  InferenceTimeout,
  ModelBusy,
  RuntimeInvalidResponse,
  RuntimeLoading,
  RuntimeStopped,
  RuntimeUnavailable,
} from '../../src/domain/chat/errors.js';
import { OpenAiController } from '../../src/interfaces/http/chat/openai/openai.controller.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { closeBreakers } from '../support/closed-breakers.js';
import { until } from '../support/until.js';
import { type Member, readyProject, register } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const completions = '/openai/v1/chat/completions';
const usage = { promptTokens: 1, cachedTokens: 0, completionTokens: 2 };
const end = { finishReason: 'stop', usage } as const;

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));

describe('streams of the OpenAI endpoint', () => {
  let app: TestApp;
  let admin: Member;
  let project: string;
  /** Makes the answer of the model. */
  let parts: (request: ChatRequest, signal: AbortSignal) => AsyncIterable<CompletionPart>;
  let settings: { -readonly [Name in keyof ServiceSettings]: ServiceSettings[Name] };
  /** Counts the answers that have ended in the runtime. */
  let ended: number;

  const runtimes = new MemoryChatRuntimes({
    'tiny-chat': {
      async *parts(asked, signal) {
        try {
          yield* parts(asked, signal);
        } finally {
          ended++;
        }
      },
    },
  });

  beforeAll(async () => {
    app = await TestApp.start({
      adapt: (container) => {
        container.rebind(ChatRuntimes).toConstantValue(runtimes);
        settings = { ...container.get(ServiceSettings) };
        container.rebind(ServiceSettings).toConstantValue(settings);
      },
    });
    admin = await register(app, 'Ada');
    project = await readyProject(app, admin.token);
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    ended = 0;
    parts = async function* () {
      app.clock.advance(250);
      yield { text: 'Hello' };
      yield { text: ' there' };
      app.clock.advance(750);
      yield { text: '', end };
    };
  });
  afterEach(() => {
    app.container.get(OpenAiController).heartbeatMs = 15_000;
    closeBreakers(app.container);
  });

  const body = (more: object = {}) => ({
    model: project,
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
    ...more,
  });
  const chat = (more: object = {}, headers: Record<string, string> = {}) =>
    app.call('POST', completions, { token: admin.apiKey, json: body(more), headers });
  /** Parses the data of each event. */
  const eventsOf = (text: string) =>
    text
      .split('\n\n')
      .filter((event) => event.startsWith('data: '))
      .map((event) => event.slice('data: '.length))
      .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));
  /** Opens a stream. Returns its request and its response. */
  async function opened(more: object = {}, token = admin.apiKey) {
    const text = JSON.stringify(body(more));
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    };
    const sent = request(app.url + completions, { method: 'POST', headers }).on('error', () => undefined);
    sent.end(text);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { sent, response: response.setEncoding('utf8') };
  }
  const newestJob = async () => (await app.get('/v1/jobs?kind=chat&limit=1', admin.token)).body.jobs[0];
  const jobIs = (status: string) => until(`the job is ${status}`, async () => (await newestJob())?.status === status);

  it('have the form of OpenAI’s streams', async () => {
    const { status, headers, body } = await chat();
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
      'x-ratelimit-remaining-requests': expect.any(String),
    });
    const events = eventsOf(body);
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      id: events[0].id,
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model: project,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    });
    expect(events).toEqual([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hello' }),
      chunk({ content: ' there' }),
      chunk({}, 'stop'),
      '[DONE]',
    ]);
    expect(events[0].id).toMatch(/^chatcmpl-/);
    const job = await newestJob();
    const usage = { tokens_in: 1, tokens_out: 2, time_to_first_token: 0.25 };
    expect(job).toMatchObject({ status: 'succeeded', duration: 1, usage });
    expect(ended).toBe(1);
  });

  it('end with the usage if that was requested', async () => {
    const events = eventsOf((await chat({ stream_options: { include_usage: true } })).body);
    expect(events.slice(0, -2).map((event) => [event.usage, event.choices.length])).toEqual(Array(4).fill([null, 1]));
    expect(events.at(-2)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, prompt_tokens_details: { cached_tokens: 0 } },
    });
    expect(events.at(-1)).toBe('[DONE]');
  });

  it('carry the log probabilities and the tool calls', async () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const logprob = { token: 'é', bytes: [195, 169], logprob: -0.5 };
    parts = async function* () {
      yield { text: 'é', logprobs: [{ ...logprob, top: [logprob] }] };
      yield { text: '', toolCalls: [{ index: 0, id: 'call_1', name: 'f', arguments: '{}' }] };
      yield { text: '', end: { finishReason: 'tool_calls', usage: null } };
    };
    const [, first, second, last] = eventsOf((await chat({ stream_options: { include_usage: true } })).body);
    const content = [{ ...logprob, top_logprobs: [logprob] }];
    expect(first.choices).toEqual([
      { index: 0, delta: { content: 'é' }, logprobs: { content, refusal: null }, finish_reason: null },
    ]);
    expect(second.choices[0].delta).toEqual({ tool_calls: [call] });
    expect(last.choices[0]).toMatchObject({ delta: {}, finish_reason: 'tool_calls' });
  });

  it.each([
    ['429 model_busy', '7', new ModelBusy(7)],
    ['502 runtime_invalid_response', null, new RuntimeInvalidResponse('x')],
    ['503 runtime_loading', '1', new RuntimeLoading()],
    ['503 runtime_stopped', null, new RuntimeStopped()],
    ['503 runtime_unavailable', null, new RuntimeUnavailable('x')],
    ['504 inference_timeout', null, new InferenceTimeout(1)],
    ['400 context_length_exceeded', null, new ContextLengthExceeded('x')],
  ])('report a failure before their first event with a status: %s', async (expected, wait, error) => {
    parts = async function* () {
      yield* [];
      throw error;
    };
    const answer = await chat();
    expect(statusAndCode(answer)).toBe(expected);
    expect(answer.headers.get('retry-after')).toBe(wait);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('report a later failure with a last event, and store no turn', async () => {
    parts = async function* () {
      yield { text: 'Hello' };
      throw new RuntimeInvalidResponse('a chunk is malformed.');
    };
    const { status, body } = await chat({}, { 'X-Conversation-Id': 'new' });
    expect(status).toBe(200);
    const error = { message: expect.any(String), type: 'server_error', param: null, code: 'runtime_invalid_response' };
    expect(eventsOf(body).slice(2)).toEqual([{ error }]);
    expect(await newestJob()).toMatchObject({ status: 'failed', error: expect.stringMatching(/^runtime_invalid/) });
    parts = async function* () {
      yield { text: 'Hello' };
      throw new Error('secret');
    };
    expect(eventsOf((await chat()).body).at(-1)).toMatchObject({ error: { code: 'internal_error' } });
    parts = async function* () {
      yield { text: 'Hello' };
    };
    expect(eventsOf((await chat()).body).at(-1)).toMatchObject({ error: { code: 'runtime_invalid_response' } });
    expect((await app.get(`/v1/projects/${project}/conversations`, admin.token)).body.count).toBe(0);
  });

  it('store the turn before their end', async () => {
    const { body, headers } = await chat({}, { 'X-Conversation-Id': 'new' });
    const id = headers.get('x-conversation-id');
    expect(id).toMatch(/^cnv_/);
    expect(eventsOf(body).at(-1)).toBe('[DONE]');
    const path = `/v1/projects/${project}/conversations/${id}`;
    const contents = async () =>
      (await app.get(path, admin.token)).body.messages.map(({ content }: { content: string }) => content);
    expect(await contents()).toEqual(['Hi', 'Hello there']);
    const stored: unknown[] = [];
    parts = async function* () {
      yield { text: 'More' };
      stored.push(await contents());
      yield { text: '!', end };
      stored.push(await contents());
    };
    expect((await chat({}, { 'X-Conversation-Id': id as string })).headers.get('x-conversation-id')).toBe(id);
    expect(stored).toEqual([['Hi', 'Hello there']]);
    expect(await contents()).toEqual(['Hi', 'Hello there', 'Hi', 'More!']);
    parts = async function* () {
      yield { text: 'More' };
      await app.delete(path, admin.token);
      yield { text: '', end };
    };
    const gone = eventsOf((await chat({}, { 'X-Conversation-Id': id as string })).body);
    expect(gone.at(-1)).toMatchObject({ error: { code: 'not_found' } });
    expect(gone.some((event) => event.choices?.[0].finish_reason)).toBe(false);
  });

  it('send comments while they have no event to send, also before the first one', async () => {
    app.container.get(OpenAiController).heartbeatMs = 5;
    let go: () => void = () => undefined;
    const wait = () => new Promise<void>((resolve) => (go = resolve));
    parts = async function* () {
      await wait();
      yield { text: 'Hello' };
      await wait();
      yield { text: '', end };
    };
    const { response } = await opened();
    let text = '';
    for await (const piece of response) {
      text += piece;
      if (piece.startsWith(':')) go();
    }
    expect(text).toMatch(/^(: keep-alive\n\n)+data: .*Hello.*\n\n(: keep-alive\n\n)+data: .*\[DONE\]\n\n$/s);
  });

  it('are cancelled at once when their caller disconnects, also before the first event', async () => {
    for (const before of [1, 0]) {
      let gone = false;
      parts = async function* (_, signal) {
        signal.addEventListener('abort', () => {
          gone = true;
        });
        if (before === 0) yield { text: 'Hello' };
        await untilAborted(signal);
      };
      const leaving = new AbortController();
      const text = JSON.stringify(body());
      const headers = { Authorization: `Bearer ${admin.apiKey}`, 'Content-Type': 'application/json' };
      const { signal } = leaving;
      const sent = request(app.url + completions, { method: 'POST', headers, signal }).on('error', () => undefined);
      sent.end(text);
      await jobIs('running');
      leaving.abort();
      await jobIs('cancelled');
      expect({ gone, ended }).toEqual({ gone: true, ended: 1 });
      ended = 0;
    }
    // The only error is the planted one of an earlier test.
    expect(app.logger.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  });

  it.each([
    ['leaves', 'cancelled', null],
    ['loses its key', 'cancelled', expect.stringMatching(/^unauthenticated/)],
    ['stays beyond the time limit', 'failed', expect.stringMatching(/^inference_timeout/)],
  ])('make the model wait for a caller who reads nothing and %s', async (what, status, error) => {
    settings.inferenceTimeoutMs = status === 'failed' ? 1_000 : 60_000;
    let yielded = 0;
    parts = async function* (_, signal) {
      for (;;) {
        yield { text: 'x'.repeat(10_000) };
        yielded++;
        await sleep(0, undefined, { signal });
      }
    };
    const by = what === 'loses its key' ? await register(app, 'Silent') : admin;
    const { sent } = await opened({}, by.apiKey);
    let before = -1;
    const isHeld = () => {
      const held = yielded === before;
      before = yielded;
      return held;
    };
    await until('the model is held back', isHeld, 50);
    expect(yielded).toBeLessThan(2_000);
    if (what === 'leaves') sent.destroy();
    if (by !== admin) await app.delete(`/v1/auth/users/${by.id}`, admin.token);
    await jobIs(status);
    expect(await newestJob()).toMatchObject({ error });
    await until('the connection is closed', () => app.shutdown.requestsInFlight === 0);
    expect(ended).toBe(1);
    sent.destroy();
  });

  // This test must be the last one: it shuts down the app.
  it('finish during a shutdown; later calls are refused in the form of OpenAI', async () => {
    let go: () => void = () => undefined;
    parts = async function* () {
      yield { text: 'Hello' };
      await new Promise<void>((resolve) => (go = resolve));
      yield { text: ' there', end };
    };
    const { response } = await opened();
    const text = textOf(response);
    app.shutdown.begin();
    const late = await chat();
    expect(statusAndCode(late)).toBe('503 shutting_down');
    expect(late.headers.get('retry-after')).toBe('1');
    const drained = app.shutdown.drain(app.server, 60_000);
    go();
    expect(eventsOf(await text).at(-1)).toBe('[DONE]');
    await drained;
    expect(ended).toBe(1);
  });
});
