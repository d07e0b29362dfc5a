import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChatRuntime } from '../../../src/application/chat/ports.js';
import type { ChatRequest, CompletionPart } from '../../../src/domain/chat/chat.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import type { HttpSource } from '../../../src/infrastructure/http-engine/engine-spec.js';
import { OpenAiChatEngine } from '../../../src/infrastructure/openai/openai-chat-engine.js';
import { SystemClock } from '../../../src/infrastructure/system/adapters.js';
import { answers, schemas } from '../../support/json-schemas.js';
import { RecordingLog } from '../../support/recording-log.js';
import { unlimited } from '../../support/records.js';
import {
  answering,
  chunk,
  chunksOf,
  completion,
  type Script,
  ScriptedEngine,
  sendEvents,
  speaking,
  streaming,
} from '../../support/scripted-engine.js';
import { until } from '../../support/until.js';

const M = 'big';

describe('the stream of an engine that speaks OpenAI', () => {
  let engine: ScriptedEngine;
  let runtime: ChatRuntime;

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
  });
  beforeEach(() => {
    const settings = { queue: 1, timeoutMs: 60_000, maxConcurrent: 1, schemas, answers, allowedHosts: [], keys: {} };
    runtime = new OpenAiChatEngine(settings, new SystemClock(), new RecordingLog()).create('a');
    const model = { model: M, model_aliases: ['big-0613'] };
    const source: HttpSource<object> = { kind: 'openai', baseUrl: engine.url, key: null, model };
    runtime.start(source);
    return until('it is ready', () => runtime.status.state === 'ready', 1);
  });
  afterEach(() => runtime.stop());
  afterAll(() => engine.close());

  const asking = (more: Partial<ChatRequest> = {}): ChatRequest => ({
    messages: [{ role: 'user', content: 'Hi' }],
    maxTokens: null,
    temperature: 0,
    ...more,
  });
  const stream = (more: Partial<ChatRequest> = {}, signal = new AbortController().signal) =>
    runtime.stream(asking(more), { caller: 'usr_a', signal, memory: unlimited })[Symbol.asyncIterator]();
  /** Returns the parts, and the code of the failure after them. */
  const taken = async (script: Script, more: Partial<ChatRequest> = {}) => {
    engine.script = script;
    const parts: CompletionPart[] = [];
    const reader = stream(more);
    try {
      for (let next = await reader.next(); !next.done; next = await reader.next()) parts.push(next.value);
      return { text: parts.map(({ text }) => text).join(''), parts, end: parts.at(-1)?.end };
    } catch (error) {
      return { text: parts.map(({ text }) => text).join(''), parts, failure: (error as { code: string }).code };
    }
  };

  it('asks for events with usage, and gives the text as it comes', async () => {
    const usage = { prompt_tokens: 8, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 5 } };
    const { parts } = await taken(streaming(...chunksOf(M, 'Hello there', { usage })));
    expect(parts).toEqual([
      { text: 'Hello' },
      { text: ' there' },
      { text: '', end: { finishReason: 'stop', usage: { promptTokens: 8, cachedTokens: 5, completionTokens: 2 } } },
    ]);
    const asked = engine.asked.at(-1);
    expect(asked?.body).toEqual({
      model: M,
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 512,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(asked?.headers.accept).toBe('text/event-stream');
    const [firstToken, betweenTokens, answer] = [{ count: 1 }, { count: 1 }, { count: 1 }];
    expect(runtime.figures).toMatchObject({ completionTokens: 2, firstToken, betweenTokens, answer });
  });

  const hi = chunk(M, { content: 'Hi' });
  const annotation = { id: '', object: '', created: 0, model: '', prompt_filter_results: [] };
  it.each<[string, unknown[]]>([
    [
      'usage in the chunk of the end, and no [DONE]',
      [hi, chunk(M, {}, 'stop', { usage: { prompt_tokens: 1, completion_tokens: 1 } })],
    ],
    [
      'an alias, and a role and an empty text in every chunk',
      [
        chunk('big-0613', { role: 'assistant', content: 'Hi' }),
        chunk('big-0613', { role: 'assistant', content: '' }, 'stop'),
        '[DONE]',
      ],
    ],
    [
      'null for the text, an empty array of calls, and reasoning',
      [
        chunk(M, { content: null, tool_calls: [], reasoning_content: 'Hm' }),
        hi,
        chunk(M, { content: null }, 'eos_token'),
      ],
    ],
    [
      'an empty reason before the end, and no choices for the usage',
      [chunk(M, { content: 'Hi' }, ''), chunk(M, {}, 'stop_sequence'), chunk(M, null, null, { choices: null })],
    ],
    [
      'annotations that name no model',
      [
        { ...annotation, choices: [] },
        hi,
        chunk(M, {}, 'stop'),
        { ...annotation, choices: [{ index: 0, finish_reason: null }] },
      ],
    ],
    ['the end with the last text', [chunk(M, { content: 'Hi' }, 'stop'), '[DONE]', 'nobody reads this']],
  ])('accepts %s', async (_, events) => {
    const { text, end, failure } = { failure: undefined, ...(await taken(streaming(...events))) };
    expect({ text, reason: end?.finishReason, failure }).toEqual({ text: 'Hi', reason: 'stop', failure: undefined });
  });

  const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const format = (schema: JsonObject, strict = true) =>
    ({ json: 'schema', name: 'place', description: 'A place', schema, strict }) as const;
  const whole = (more: Partial<ChatRequest>, script: Script) => {
    engine.script = script;
    return runtime
      .complete(asking(more), { caller: 'usr_a', signal: new AbortController().signal, memory: unlimited })
      .then(
        ({ text }) => text,
        (error) => `${error.code} ${error.advice.details?.[0]?.path ?? ''}`,
      );
  };

  it('passes on a response format, and checks a complete answer against a strict one', async () => {
    const [good, bad] = ['{"city": "Paris"}', '{"town": "Paris"}'];
    const strict = { responseFormat: format(city) };
    expect(await taken(streaming(...chunksOf(M, good)), strict)).toMatchObject({ text: good, end: {} });
    expect(engine.asked.at(-1)?.body.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'place', description: 'A place', schema: city, strict: true },
    });
    expect(await whole(strict, speaking(good))).toBe(good);
    const broken = await taken(streaming(...chunksOf(M, bad)), strict);
    expect(broken).toMatchObject({ text: bad, failure: 'runtime_invalid_response' });
    expect(broken.parts.every(({ end }) => end === undefined)).toBe(true);
    expect(await whole(strict, speaking(bad))).toBe('runtime_invalid_response ');
    expect(await whole(strict, answering(200, completion(M, bad, {}, 'length')))).toBe(bad);
    for (const lax of [
      { responseFormat: format(city, false) },
      { responseFormat: { json: 'object' } as const },
      { ...strict, sampling: { stop: ['x'] } },
    ])
      expect(await whole(lax, speaking(bad))).toBe(bad);
    expect(engine.asked.at(-2)?.body.response_format).toEqual({ type: 'json_object' });
  });

  it('refuses a strict format with an invalid schema before it asks the engine', async () => {
    const asked = engine.asked.length;
    const unfit = { responseFormat: format({ type: 'text' }) };
    expect(await whole(unfit, speaking())).toBe('invalid_request response_format.json_schema.schema');
    expect(await taken(speaking(), unfit)).toMatchObject({ parts: [], failure: 'invalid_request' });
    expect(engine.asked).toHaveLength(asked);
  });

  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"' } };
  const stop = chunk(M, {}, 'stop');
  it.each<[string, Script, string?]>([
    ['no events', answering(200, completion(M, 'Hi'))],
    ['an empty stream', streaming()],
    ['no text', streaming(chunk(M, { role: 'assistant' }), stop, '[DONE]')],
    ['another model', streaming(chunk('small', { content: 'Hi' }), stop)],
    ['another model later', streaming(hi, chunk('small', { content: '!' }), stop), 'Hi'],
    ['an annotation with text', streaming({ ...hi, model: '', object: '' }, stop)],
    ['another kind of chunk', streaming({ ...hi, object: 'text_completion' })],
    ['a whole answer in an event', streaming(completion(M, 'Hi'))],
    ['no JSON', streaming(hi, '{"id":', stop), 'Hi'],
    ['no text in the text', streaming(hi, chunk(M, { content: [{ type: 'text', text: '!' }] }), stop), 'Hi'],
    ['another choice', streaming({ ...hi, choices: [{ index: 1, delta: { content: 'Hi' } }] }, stop)],
    ['two choices', streaming({ ...hi, choices: [hi.choices[0], hi.choices[0]] }, stop)],
    ['no end', streaming(hi), 'Hi'],
    ['[DONE] before the end', streaming(hi, '[DONE]', stop), 'Hi'],
    ['another end', streaming(hi, chunk(M, {}, 'content_filter'), '[DONE]'), 'Hi'],
    ['text after the end', streaming(hi, stop, hi, '[DONE]'), 'Hi'],
    ['an error', streaming(hi, { error: { message: 'oops', code: 500 } }, '[DONE]'), 'Hi'],
    [
      'an error event',
      (_, response) =>
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).end('event: error\ndata: {}\n\n'),
    ],
    [
      'an endless event',
      (_, response) =>
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(`data: ${'x'.repeat(2_000_000)}`),
    ],
    ['a call of a tool that nobody offered', streaming(chunk(M, { tool_calls: [call] }), chunk(M, {}, 'tool_calls'))],
    ['a call at no place', streaming(chunk(M, { tool_calls: [{ ...call, index: -1 }] }), chunk(M, {}, 'tool_calls'))],
    ['an end for tool calls without a call', streaming(hi, chunk(M, {}, 'tool_calls'), '[DONE]'), 'Hi'],
    ['an error status', answering(500, { error: 'oops' })],
  ])('refuses %s', async (_, script, before = '') => {
    const { text, failure } = { failure: 'none', ...(await taken(script)) };
    expect({ text, failure }).toEqual({ text: before, failure: 'runtime_invalid_response' });
    expect((await taken(speaking())).end).toMatchObject({ finishReason: 'stop' });
  });

  it('reports that the engine broke off, and checks whether it is still there', async () => {
    const cut: Script = (_, response) => {
      sendEvents(response, hi);
      response.once('close', () => (engine.models = 500));
      setImmediate(() => response.socket?.destroy());
    };
    expect(await taken(cut)).toMatchObject({ text: 'Hi', failure: 'runtime_unavailable' });
    await until('the engine is unavailable', () => runtime.status.state === 'unavailable', 1);
    engine.models = 200;
  });

  it('has tool calls if the request has tools; invalid calls are refused', async () => {
    const parts = [chunk(M, { tool_calls: [call] }), chunk(M, {}, 'tool_calls'), '[DONE]'];
    const begun = { index: 0, id: 'call_1', name: 'weather', arguments: '{"' };
    const end = { finishReason: 'tool_calls', usage: null };
    const streamed = await taken(streaming(...parts), { tools: [{ name: 'weather' }] });
    expect(streamed.parts).toMatchObject([{ toolCalls: [begun] }, { text: '', end }]);
    const message = { role: 'assistant', content: null };
    const code = (tool_calls: unknown[], request: Partial<ChatRequest> = { tools: [{ name: 'weather' }] }) => {
      const choices = [{ message: { ...message, tool_calls }, finish_reason: 'tool_calls' }];
      return whole(request, answering(200, completion(M, null, { choices })));
    };
    expect(await code([call])).toBe('');
    for (const broken of [[JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`)], ['call'], Array(200).fill(call), []])
      expect(await code(broken)).toBe('runtime_invalid_response ');
    expect(await code([call], {})).toBe('runtime_invalid_response ');
  });

  it('has log probabilities only on request', async () => {
    const content = [
      { token: 'Ä', logprob: -0.5, bytes: null, top_logprobs: [{ token: 'Ä', logprob: -0.5, bytes: [195, 132] }] },
    ];
    const logprobs = [
      { token: 'Ä', logprob: -0.5, bytes: [195, 132], top: [{ token: 'Ä', logprob: -0.5, bytes: [195, 132] }] },
    ];
    const scored = {
      choices: [{ index: 0, delta: { content: 'Ä' }, logprobs: { content, refusal: null }, finish_reason: null }],
    };
    const script = streaming(chunk(M, {}, null, scored), stop, '[DONE]');
    expect((await taken(script, { sampling: { topLogprobs: 2 } })).parts[0]).toEqual({ text: 'Ä', logprobs });
    expect((await taken(script, { sampling: { seed: 7 } })).parts[0]).toEqual({ text: 'Ä' });
    expect(engine.asked.at(-1)?.body.logprobs).toBeUndefined();
    const broken = { choices: [{ ...scored.choices[0], logprobs: { content: [{ token: 'Ä', logprob: '?' }] } }] };
    expect(await taken(streaming(chunk(M, {}, null, broken), stop), { sampling: { topLogprobs: 2 } })).toMatchObject({
      failure: 'runtime_invalid_response',
    });
  });

  it('asks again without max_tokens after a refusal if the caller accepts a shorter answer', async () => {
    const tooLong = answering(400, { error: { code: 'context_length_exceeded' } });
    const script: Script = (asked, response) => (asked.body.max_tokens ? tooLong : speaking('Hi'))(asked, response);
    expect(await taken(script, { maxTokens: 900, cutToContext: true })).toMatchObject({ text: 'Hi' });
    expect(await taken(script, { maxTokens: 900 })).toMatchObject({ failure: 'context_length_exceeded' });
  });

  it('makes the engine wait while nobody reads parts, and continues afterwards', async () => {
    const text = 'x'.repeat(64 * 1024);
    const all = 400;
    let written = 0;
    engine.script = async (_, response) => {
      for (; written < all; written++) {
        sendEvents(response, chunk(M, { content: text }));
        if (response.writableNeedDrain) await once(response, 'drain');
      }
      sendEvents(response, stop);
      response.end();
    };
    const slow = stream();
    await slow.next();
    let before = -1;
    const isHeld = () => {
      const was = before;
      before = written;
      return was === written;
    };
    await until('the engine is held back', isHeld, 100);
    expect(written).toBeLessThan(all / 2);
    let length = text.length;
    for (let next = await slow.next(); !next.done; next = await slow.next()) length += next.value.text.length;
    expect(length).toBe(all * text.length);
  });

  it('disconnects when its reader leaves, and keeps the connection after a whole answer', async () => {
    const left = new AbortController();
    for (const leave of [(reader: AsyncIterator<unknown>) => reader.return?.(), () => left.abort(new Error('gone'))]) {
      let gone: Promise<unknown> | undefined;
      engine.script = (_, response) => {
        sendEvents(response, hi);
        gone = once(response, 'close');
      };
      const reader = stream({}, left.signal);
      await reader.next();
      const next = leave(reader) ?? reader.next();
      await gone;
      await Promise.resolve(next).catch(() => undefined);
    }
    const before = engine.accepted;
    for (let i = 0; i < 10; i++) expect((await taken(speaking())).end).toMatchObject({ finishReason: 'stop' });
    expect(engine.accepted - before).toBeLessThan(5);
  });

  it('does not count an answer that its reader left, even if all of it has arrived', async () => {
    let isSent: Promise<unknown> | undefined;
    engine.script = (_, response) => {
      isSent = once(response, 'finish');
      const half = chunk(M, { content: 'x'.repeat(600_000) });
      streaming(hi, half, half, stop, '[DONE]')(undefined as never, response);
    };
    const reader = stream();
    await reader.next();
    await isSent;
    for (let turn = 0; turn < 50; turn++) await nextTurn(); // now it has arrived
    await reader.return?.();
    await until('no call is running', () => runtime.figures.running === 0, 1);
    expect(await taken(speaking())).toMatchObject({ end: { finishReason: 'stop' } });
    expect(runtime.figures.answer.count).toBe(1);
  });
});
