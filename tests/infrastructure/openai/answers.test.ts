import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ChatRuntime } from '../../../src/application/chat/ports.js';
import type { Clock } from '../../../src/application/shared/ports.js';
import type { ChatRequest } from '../../../src/domain/chat/chat.js';
import type { HttpSource } from '../../../src/infrastructure/http-engine/engine-spec.js';
import { embeddingsOf } from '../../../src/infrastructure/openai/embeddings.js';
import { OpenAiChatEngine } from '../../../src/infrastructure/openai/openai-chat-engine.js';
import { SystemClock } from '../../../src/infrastructure/system/adapters.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { answers, schemas } from '../../support/json-schemas.js';
import { sendJson } from '../../support/local-server.js';
import { RecordingLog } from '../../support/recording-log.js';
import { unlimited } from '../../support/records.js';
import { answering, completion, type Script, ScriptedEngine, speaking } from '../../support/scripted-engine.js';
import { until } from '../../support/until.js';

const M = 'big';
const LOAD_MS = 60_000;

let engine: ScriptedEngine;
let runtime: ChatRuntime;
let log: RecordingLog;

beforeAll(async () => {
  engine = await ScriptedEngine.start();
});
afterEach(() => runtime?.stop());
afterAll(() => engine.close());

const start = (clock: Clock = new SystemClock(), timeoutMs = 20_000) => {
  log = new RecordingLog();
  const waits = { timeoutMs, loadTimeoutMs: LOAD_MS, retryDelayMs: { first: 1, max: 5 } };
  const settings = { queue: 1, ...waits, schemas, answers, allowedHosts: [], keys: {} };
  runtime = new OpenAiChatEngine(settings, clock, log).create('a');
  const model = { model: M, model_aliases: ['big-0613'] };
  const source: HttpSource<object> = { kind: 'openai', baseUrl: engine.url, key: null, model };
  runtime.start(source);
};
const reaches = (state: string) => until(`it is ${state}`, () => runtime.status.state === state, 1);
const ask = (more: Partial<ChatRequest> = {}) => {
  const request = { messages: [{ role: 'user' as const, content: 'Hi' }], maxTokens: null, temperature: 0, ...more };
  return runtime.complete(request, { caller: 'usr_a', signal: new AbortController().signal, memory: unlimited });
};
const refused = async (script: Script, more: Partial<ChatRequest> = {}) => {
  engine.script = script;
  const error = await ask(more).then(
    () => Promise.reject(new Error('it was answered')),
    (error) => error,
  );
  return [error.code, error.advice.retryAfterSeconds];
};

describe('the whole answer of an engine that speaks OpenAI', () => {
  beforeEach(() => {
    start();
    return reaches('ready');
  });
  afterEach(() => {
    engine.script = speaking();
  });

  it('may have an alias of the model, other finish reasons, and no usage', async () => {
    const usage = { prompt_tokens: 8, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 5 } };
    engine.script = answering(200, completion('big-0613', 'Hi', { usage }, 'length'));
    const counted = { promptTokens: 8, cachedTokens: 5, completionTokens: 2 };
    expect(await ask()).toEqual({ text: 'Hi', finishReason: 'length', usage: counted });
    const huge = { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: Number.MAX_SAFE_INTEGER };
    const text = { prompt_tokens: '8', completion_tokens: 2 };
    for (const none of [undefined, null, {}, text, { prompt_tokens: 8 }, huge]) {
      engine.script = answering(200, completion(M, 'Hi', { usage: none }, null));
      expect(await ask()).toEqual({ text: 'Hi', finishReason: 'stop', usage: null });
    }
  });

  it.each<[string, Script]>([
    ['no JSON', answering(200, '<html>')],
    ['nothing', answering(200, '')],
    ['JSON of another shape', answering(200, [])],
    ['another kind of answer', answering(200, { ...completion(M, 'Hi'), object: 'text_completion' })],
    ['no choices', answering(200, completion(M, 'Hi', { choices: [] }))],
    ['choices that are no list', answering(200, completion(M, 'Hi', { choices: { 0: 'x' } }))],
    ['no text', answering(200, completion(M, null))],
    ['empty text', answering(200, completion(M, ''))],
    ['parts instead of text', answering(200, completion(M, [{ type: 'text', text: 'Hi' }]))],
    ['another model', answering(200, completion('small', 'Hi'))],
    ['a list of models', answering(200, completion(M, 'Hi', { model: [M] }))],
    ['no model', answering(200, completion(M, 'Hi', { model: undefined }))],
    ['an end for tool calls without a call', answering(200, completion(M, 'Hi', {}, 'tool_calls'))],
    ['more bytes than the limit', answering(200, `"${'x'.repeat(9 * 1024 * 1024)}"`)],
    ['a redirect', (_, response) => sendJson(response, 307, {}, { Location: `${engine.url}/chat/completions` })],
    ['a bad request', answering(400, { error: { code: 'invalid_value', message: 'no' } })],
    ['no such model', answering(404, { error: { code: 'model_not_found' } })],
    ['an error of its own', answering(500, { error: { message: 'oops' } })],
    ['a gateway’s error', answering(502, '<html>')],
    ['no content', answering(204, '')],
    ['no HTTP', (_, response) => response.socket?.end('hello\r\n\r\n')],
  ])('is refused if it is %s, and the engine is asked once', async (_, script) => {
    const before = engine.asked.length;
    expect(await refused(script)).toEqual(['runtime_invalid_response', undefined]);
    expect(engine.asked).toHaveLength(before + 1);
  });

  it.each<[string, number | undefined, number, string | null]>([
    ['model_busy', 5, 429, '5'],
    ['model_busy', 1, 429, '0'],
    ['model_busy', 60, 429, '86400'],
    ['model_busy', 1, 429, 'soon'],
    ['model_busy', 1, 429, null],
    ['runtime_loading', 7, 503, '7'],
    ['runtime_unavailable', undefined, 503, null],
    ['runtime_unavailable', undefined, 401, null],
    ['runtime_unavailable', undefined, 403, null],
    ['inference_timeout', undefined, 408, null],
    ['inference_timeout', undefined, 504, null],
  ])('is %s with a wait of %p s for status %i with Retry-After %s', async (code, wait, status, retryAfter) => {
    const headers: Record<string, string> = retryAfter === null ? {} : { 'Retry-After': retryAfter };
    expect(await refused(answering(status, {}, headers))).toEqual([code, wait]);
    engine.script = speaking();
    expect(await ask()).toMatchObject({ finishReason: 'stop' });
  });

  it('is context_length_exceeded in the words of several engines; without maxTokens, they are asked again', async () => {
    const words = [
      { error: { code: 'context_length_exceeded', message: 'x' } },
      { error: { code: 400, type: 'exceed_context_size_error', message: 'x' } },
      { object: 'error', message: "This model's maximum context length is 4096 tokens." },
    ];
    const tooLong = ['context_length_exceeded', undefined];
    for (const said of words) expect(await refused(answering(400, said), { maxTokens: 4 })).toEqual(tooLong);
    const before = engine.asked.length;
    expect(await refused(answering(400, words[0]))).toEqual(tooLong);
    expect(engine.asked.slice(before).map(({ body }) => body.max_tokens)).toEqual([512, undefined]);
    engine.script = (asked, response) =>
      (asked.body.max_tokens ? answering(400, words[0]) : speaking('what is left'))(asked, response);
    expect(await ask()).toMatchObject({ text: 'what is left' });
  });

  it('is given up if it comes too slowly, and its connection is closed', async () => {
    await runtime.stop();
    start(new SystemClock(), 300);
    await reaches('ready');
    let gone: Promise<unknown> | undefined;
    const late = await refused((_, response) => {
      const drop = setInterval(() => response.write(' '), 50);
      gone = once(response, 'close').then(() => clearInterval(drop));
    });
    expect(late).toEqual(['inference_timeout', undefined]);
    await gone;
  });

  it('is lost only to the call whose connection breaks', async () => {
    const before = engine.asked.length;
    let held: ServerResponse | undefined;
    engine.script = (_, response) => {
      held = response;
    };
    const healthy = ask();
    await engine.wasAsked(before + 1);
    const broken = await refused((_, response) => response.socket?.destroy());
    expect(broken).toEqual(['runtime_unavailable', undefined]);
    sendJson(held as ServerResponse, 200, completion(M, 'Hi'));
    expect(await healthy).toMatchObject({ text: 'Hi' });
  });

  it('has no address of the engine in its failure, nor has the reason of the runtime', async () => {
    const { port } = engine;
    await engine.close();
    const { message } = await ask().catch((error) => error);
    await reaches('unavailable');
    expect(`${message} ${runtime.status.reason}`).not.toContain(String(port));
    engine = await ScriptedEngine.start(port);
    await reaches('ready');
  });
});

it.each([404, 405])('an engine that answers %i when it is asked for its models is ready', async (status) => {
  engine.models = status;
  start();
  await reaches('ready');
  engine.models = 200;
});

describe('an engine that answers 503 when it is asked for its models', () => {
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock(new Date(0));
    engine.models = 503;
    start(clock);
  });
  afterEach(() => {
    engine.models = 200;
  });

  it('is loading, is asked again, and becomes ready when it answers 200', async () => {
    await log.saw('chat runtime loading', 3);
    expect(runtime.status).toEqual({ state: 'loading', reason: null });
    await expect(ask()).rejects.toMatchObject({ code: 'runtime_loading' });
    expect(log.of('chat runtime unavailable')).toEqual([]);
    engine.models = 200;
    await reaches('ready');
    expect(await ask()).toMatchObject({ finishReason: 'stop' });
  });

  it('becomes unavailable after the time limit, and can still become ready', async () => {
    await log.saw('chat runtime loading');
    clock.advance(LOAD_MS);
    const { fields } = await log.saw('chat runtime unavailable');
    expect(fields.reason).toBe('the engine answers that it is not ready yet (status 503)');
    engine.models = 200;
    await reaches('ready');
  });

  it('gets the whole time limit again after it was in another state', async () => {
    await log.saw('chat runtime loading');
    engine.models = 500;
    await log.saw('chat runtime unavailable');
    const before = log.of('chat runtime loading').length;
    clock.advance(LOAD_MS);
    engine.models = 503;
    await log.saw('chat runtime loading', before + 2);
  });
});

const item = (index: number, embedding: unknown = [index, 0.5]) => ({ object: 'embedding', index, embedding });
const list = (data: unknown, more: object = {}) => ({ object: 'list', model: 'm', data, ...more });

describe('the embeddings of an engine that speaks OpenAI', () => {
  const read = (answer: object, dimensions?: number) => {
    const request = { texts: ['a', 'b'], ...(dimensions && { dimensions }) };
    return embeddingsOf(request, 'm', ['m', 'n']).answer.safeParse(answer);
  };

  it('are asked for in base64, with the dimensions only if the caller names them', () => {
    const body = { model: 'm', input: ['a'], encoding_format: 'base64' };
    expect(embeddingsOf({ texts: ['a'] }, 'm', ['m'])).toMatchObject({ path: '/embeddings', body });
    expect(embeddingsOf({ texts: ['a'] }, 'm', ['m']).body).not.toHaveProperty('dimensions');
    expect(embeddingsOf({ texts: ['a'], dimensions: 8 }, 'm', ['m']).body).toEqual({ ...body, dimensions: 8 });
  });

  it('are accepted as numbers or in base64, in the order of their indexes', () => {
    const vectors = [Float32Array.of(0, 0.5), Float32Array.of(1, 0.5)];
    const usage = { prompt_tokens: 2, total_tokens: 2 };
    expect(read(list([item(1, 'AACAPwAAAD8='), item(0)], { model: 'n', usage })).data).toEqual({
      vectors,
      promptTokens: 2,
    });
    expect(read(list([item(0), item(1)], { usage: 7 })).data).toEqual({ vectors, promptTokens: null });
    expect(read(list([item(0), item(1)]), 2).success).toBe(true);
  });

  it.each<[string, object, RegExp, number?]>([
    ['no list', { object: 'error' }, /no list/],
    ['another model', list([item(0), item(1)], { model: 'x' }), /another model/],
    ['too few', list([item(0)]), /another number/],
    ['one index twice', list([item(0), item(0)]), /another number/],
    ['an index beyond', list([item(0), item(2)]), /another number/],
    ['vectors of two lengths', list([item(0), item(1, [1])]), /wrong number of dimensions/],
    ['another length than asked', list([item(0), item(1)]), /wrong number of dimensions/, 3],
    ['an empty vector', list([item(0, []), item(1, [])]), /no vector/],
    ['a word in a vector', list([item(0, ['x', 1]), item(1)]), /no vector/],
    ['a number that is not finite', list([item(0, 'AADAfwAAAAA='), item(1)]), /no vector/],
    ['half a number', list([item(0, 'AAA='), item(1)]), /no vector/],
  ])('are refused for %s', (_, answer, problem, ...[dimensions]) => {
    expect(read(answer, dimensions).error?.issues[0]?.message).toMatch(problem);
  });
});
