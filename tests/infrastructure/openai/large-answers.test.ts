import type { ChatRuntime } from '../../../src/application/chat/ports.js';
import { MemoryBudget, type Reservation } from '../../../src/application/shared/memory-budget.js';
import type { ChatRequest } from '../../../src/domain/chat/chat.js';
import type { HttpSource } from '../../../src/infrastructure/http-engine/engine-spec.js';
import { OpenAiChatEngine } from '../../../src/infrastructure/openai/openai-chat-engine.js';
import { SystemClock } from '../../../src/infrastructure/system/adapters.js';
import { answers, schemas } from '../../support/json-schemas.js';
import { RecordingLog } from '../../support/recording-log.js';
import { unlimited } from '../../support/records.js';
import { answering, chunk, completion, ScriptedEngine, streaming } from '../../support/scripted-engine.js';
import { until } from '../../support/until.js';

const MB = 1024 * 1024;
const KB = 1024;
/** From this size on, another thread parses an answer. */
const LARGE = 256 * KB;
const LARGE_EVENT = 32 * KB;
const invalid = { code: 'runtime_invalid_response' };

const sampling = { topLogprobs: 20 };
const logprob = (n: number) => ({ token: ` tok${n}`, logprob: -(n + 1) / 1_000, bytes: [32, 116, 111, 107, n % 256] });
/** The log probabilities of an answer of this many tokens, each with 20 others. */
const rich = (tokens: number) => ({
  content: Array.from({ length: tokens }, (_, n) => ({
    ...logprob(n),
    top_logprobs: Array.from({ length: 20 }, (_, top) => logprob(n + top)),
  })),
});
const scored = (logprobs: unknown) => ({
  choices: [{ message: { role: 'assistant', content: 'Hi' }, logprobs, finish_reason: 'stop' }],
});
const scoredChunk = (logprobs: unknown) => ({
  choices: [{ index: 0, delta: { content: 'Hi' }, logprobs, finish_reason: null }],
});
const stop = chunk('m', {}, 'stop');

describe('a large answer of an engine that speaks OpenAI', () => {
  let engine: ScriptedEngine;
  let runtime: ChatRuntime;

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
    const settings = { queue: 9, timeoutMs: 60_000, schemas, answers, allowedHosts: [], keys: {} };
    runtime = new OpenAiChatEngine(settings, new SystemClock(), new RecordingLog()).create('a');
    const source: HttpSource<object> = { kind: 'openai', baseUrl: engine.url, key: null, model: { model: 'm' } };
    runtime.start(source);
    await until('it is ready', () => runtime.status.state === 'ready', 1);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await runtime.stop();
    await engine.close();
  });

  const asking = (more: Partial<ChatRequest>): ChatRequest => ({
    messages: [{ role: 'user', content: 'Hi' }],
    maxTokens: null,
    temperature: 0,
    ...more,
  });
  const call = (memory: Reservation = unlimited, signal = new AbortController().signal) => ({
    caller: 'usr_a',
    signal,
    memory,
  });
  const ask = (more: Partial<ChatRequest> = {}, memory = unlimited) => runtime.complete(asking(more), call(memory));
  const take = async (more: Partial<ChatRequest> = {}, memory = unlimited) => {
    const parts = [];
    for await (const part of runtime.stream(asking(more), call(memory))) parts.push(part);
    return parts;
  };
  /** Returns the length of the longest text that `work` parses on this thread. */
  const longestParsed = async (work: () => Promise<unknown>): Promise<number> => {
    const parse = jest.spyOn(JSON, 'parse');
    await work();
    return Math.max(0, ...parse.mock.calls.map(([text]) => text.length));
  };

  it('is parsed by another thread, with all its log probabilities', async () => {
    const logprobs = rich(400);
    engine.script = answering(200, completion('m', null, scored(logprobs)));
    let tokens: unknown[] = [];
    const longest = await longestParsed(async () => {
      tokens = [...((await ask({ sampling })).logprobs ?? [])];
    });
    expect(JSON.stringify(completion('m', null, scored(logprobs))).length).toBeGreaterThan(LARGE);
    expect(longest).toBeLessThan(4 * KB); // one token
    expect(tokens).toEqual(logprobs.content.map(({ top_logprobs: top, ...token }) => ({ ...token, top })));
  });

  it('has its text, its calls of tools and its usage also from the thread', async () => {
    const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const text = 'é'.repeat(LARGE);
    const choices = [{ message: { role: 'assistant', content: text, tool_calls }, finish_reason: 'tool_calls' }];
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    engine.script = answering(200, completion('m', null, { choices, usage }));
    expect(await ask({ tools: [{ name: 'f' }] })).toEqual({
      text,
      toolCalls: [{ id: 'call_1', name: 'f', arguments: '{}' }],
      finishReason: 'tool_calls',
      usage: { promptTokens: 1, cachedTokens: 0, completionTokens: 2 },
    });
  });

  it.each([
    ['too deep', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`],
    ['too deep and large', '['.repeat(7 * MB)],
    ['too many values', `[${'0,'.repeat(3 * MB)}0]`],
  ])('is refused before it is parsed if it has %s', async (_, text) => {
    engine.script = answering(200, text);
    expect(await longestParsed(() => expect(ask()).rejects.toMatchObject(invalid))).toBeLessThan(KB);
    engine.script = streaming(text.slice(0, 200 * KB));
    expect(await longestParsed(() => expect(take()).rejects.toMatchObject(invalid))).toBeLessThan(KB);
  });

  it('has log probabilities only on request, and then only valid ones', async () => {
    const wrong = [{ content: [{ token: 'x', logprob: '?' }] }, { content: [logprob(1), null] }, { content: {} }];
    const tooLong = { content: [{ token: 'x'.repeat(2_000), logprob: -1 }] };
    const noBytes = { content: [{ ...logprob(1), bytes: [256] }] };
    for (const logprobs of [...wrong, tooLong, noBytes, rich(150)]) {
      engine.script = answering(200, completion('m', null, scored(logprobs)));
      expect(await ask()).toEqual({ text: 'Hi', finishReason: 'stop', usage: null });
      engine.script = streaming(chunk('m', {}, null, scoredChunk(logprobs)), stop);
      expect((await take())[0]).toEqual({ text: 'Hi' });
    }
    for (const logprobs of [...wrong, tooLong, noBytes, { content: [...rich(400).content, { token: 1 }] }]) {
      engine.script = answering(200, completion('m', null, scored(logprobs)));
      await expect(ask({ sampling })).rejects.toMatchObject(invalid);
    }
  });

  it('counts against the memory of its caller, before it is read; a small one does not', async () => {
    const budget = new MemoryBudget(20 * MB, 50);
    const holder = budget.open('usr_b');
    await holder.reserveBytes(19.8 * MB);
    const memory = budget.open('usr_a');
    for (const headers of [undefined, { 'Transfer-Encoding': 'chunked' }]) {
      engine.script = answering(200, completion('m', 'x'.repeat(MB)), headers);
      await expect(ask({}, memory)).rejects.toMatchObject({ code: 'busy' });
      engine.script = answering(200, completion('m', 'Hi'), headers);
      expect(await ask({}, memory)).toMatchObject({ text: 'Hi' });
    }
    const event = chunk('m', { content: 'x'.repeat(200 * KB) });
    engine.script = streaming(event, stop);
    await expect(take({}, memory)).rejects.toMatchObject({ code: 'busy' });
    holder.close();
    expect((await take({}, memory))[0]?.text).toHaveLength(200 * KB);
    engine.script = answering(200, completion('m', 'x'.repeat(MB)));
    expect((await ask({}, memory)).text).toHaveLength(MB);
    await expect(budget.open('usr_b').reserveBytes(19 * MB)).rejects.toMatchObject({ code: 'busy' });
    memory.close();
    await budget.open('usr_b').reserveBytes(19 * MB);
  });

  it('counts with its whole text if it is a stream that is checked against a schema', async () => {
    const budget = new MemoryBudget(8 * MB, 50);
    await budget.open('usr_b').reserveBytes(3.8 * MB);
    const memory = budget.open('usr_a');
    const text = 'x'.repeat(60 * KB);
    engine.script = streaming(...[`"${text}`, `${text}"`].map((content) => chunk('m', { content })), stop);
    const responseFormat = { json: 'schema', name: 'text', schema: { type: 'string' }, strict: true } as const;
    expect(await take({}, memory)).toHaveLength(3);
    await expect(take({ responseFormat }, memory)).rejects.toMatchObject({ code: 'busy' });
    expect(await take({ responseFormat })).toHaveLength(3);
  });

  it('leaves its turn in the thread if its caller leaves', async () => {
    engine.script = answering(200, completion('m', null, scored(rich(2_000))));
    const leaving = new AbortController();
    const waiting = [ask({ sampling }), runtime.complete(asking({ sampling }), call(unlimited, leaving.signal))];
    const left = new Error('the caller left');
    await engine.wasAsked(engine.asked.length);
    leaving.abort(left);
    await expect(waiting[1]).rejects.toBe(left);
    expect((await waiting[0])?.text).toBe('Hi');
  });

  it('may be an event of a stream, with at most 256 KB', async () => {
    const logprobs = rich(100);
    engine.script = streaming(chunk('m', {}, null, scoredChunk(logprobs)), stop);
    let parts: unknown[] = [];
    const longest = await longestParsed(async () => {
      parts = await take({ sampling });
    });
    expect(JSON.stringify(logprobs).length).toBeGreaterThan(LARGE_EVENT);
    expect(longest).toBeLessThan(4 * KB);
    const read = logprobs.content.map(({ top_logprobs: top, ...token }) => ({ ...token, top }));
    expect(parts[0]).toEqual({ text: 'Hi', logprobs: read });
    engine.script = streaming(chunk('m', { content: 'x'.repeat(8 * MB) }), stop);
    await expect(take()).rejects.toMatchObject(invalid);
  });

  it('may be a list of embeddings', async () => {
    const texts = Array.from({ length: 64 }, (_, n) => `text ${n}`);
    const vectors = texts.map((_, n) => Float32Array.from({ length: 1_024 }, (_, at) => at / (n + 1)));
    const data = vectors.map((vector, index) => ({ object: 'embedding', index, embedding: [...vector] }));
    engine.script = answering(200, { object: 'list', model: 'm', data });
    let embedded: unknown = null;
    const longest = await longestParsed(async () => {
      embedded = await runtime.embed({ texts }, call());
    });
    expect(longest).toBeLessThan(20 * KB); // the request, at the engine
    expect(embedded).toEqual({ vectors, promptTokens: null });
    engine.script = answering(200, { object: 'list', model: 'm', data: data.slice(1) });
    await expect(runtime.embed({ texts }, call())).rejects.toMatchObject(invalid);
    const budget = new MemoryBudget(MB, 50);
    await budget.open('usr_b').reserveBytes(MB);
    await expect(runtime.embed({ texts }, call(budget.open('usr_a')))).rejects.toMatchObject({ code: 'busy' });
  });
});
