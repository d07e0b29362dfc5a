import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChatEngine, ChatRuntime } from '../../../src/application/chat/ports.js';
import type { ModelFileResolver } from '../../../src/application/deployments/ports.js';
import { InvalidRequest } from '../../../src/domain/shared/errors.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { CallTelemetry } from '../../../src/infrastructure/chat-runtimes/call-telemetry.js';
import { ChatRuntimesByEngine } from '../../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { FairQueue, type Turn, WaitEstimate } from '../../../src/infrastructure/chat-runtimes/fair-queue.js';
import { RuntimeMeter } from '../../../src/infrastructure/chat-runtimes/runtime-meter.js';
import { ChildLimits } from '../../../src/infrastructure/child-process/child-limits.js';
import { costOf } from '../../../src/infrastructure/http-engine/call-cost.js';
import { OnnxChatEngine } from '../../../src/infrastructure/onnx-chat/onnx-chat-engine.js';
import { OpenAiChatEngine } from '../../../src/infrastructure/openai/openai-chat-engine.js';
import { AsyncRequestContext, UuidIdGenerator } from '../../../src/infrastructure/system/adapters.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { answers, schemas } from '../../support/json-schemas.js';
import { RecordingLog } from '../../support/recording-log.js';

describe('the cost of a call to an engine elsewhere', () => {
  const message = { role: 'user' as const, content: 'x'.repeat(400) };
  const tokens = (about: object) => costOf({ messages: [message], maxTokens: 50, temperature: 0, ...about }).tokens;

  it('is the length of the prompt and of the longest answers', () => {
    expect(tokens({})).toBe(150);
    expect(tokens({ choices: 3 })).toBe(250);
    expect(tokens({ messages: [], texts: ['x'.repeat(400), 'x'.repeat(40)], choices: 2 })).toBe(310);
  });

  it('counts tools, earlier calls and thoughts, the format and pictures', () => {
    const long = 'x'.repeat(4_000);
    const call = { id: 'c', name: 'f', arguments: long };
    const picture = { imageUrl: `data:image/png;base64,${long.repeat(9)}` };
    for (const about of [
      { tools: [{ name: 'f', description: long }] },
      { tools: [{ name: 'f', parameters: { properties: { a: [{ [long]: null }] } } }] },
      { messages: [{ ...message, reasoning: long }] },
      { messages: [{ ...message, refusal: long }] },
      { messages: [{ ...message, toolCalls: [call] }] },
      { messages: [{ ...message, parts: [picture] }] },
      { responseFormat: { json: 'schema', name: 'n', schema: { title: long } } },
    ]) {
      expect(tokens(about)).toBeGreaterThanOrEqual(1_150);
      expect(tokens(about)).toBeLessThan(1_200);
    }
  });
});

describe('FairQueue', () => {
  let estimate: WaitEstimate;
  let queue: FairQueue;
  /** The calls that got a slot, in order. */
  let begun: string[];
  let refused: string[];
  const turns = new Map<string, Turn>();

  const use = (places: number, most = 100) => {
    estimate = new WaitEstimate();
    queue = new FairQueue(places, most, estimate);
    begun = [];
    refused = [];
  };
  /** Enters a call. The first letter of its name is its caller. */
  const enter = (name: string, tokens = 100) => {
    const turn = { caller: name.charAt(0), tokens, begin: () => begun.push(name), refuse: () => refused.push(name) };
    turns.set(name, turn);
    queue.enter(turn);
  };
  const leave = (name: string, tokens?: number) => queue.leave(turns.get(name) as Turn, tokens);
  /** Ends all calls in the order in which they began. Returns their names in this order. */
  const drain = () => {
    for (let at = 0; at < begun.length; at++) leave(begun[at] as string);
    return begun.join(' ');
  };

  it('runs work in its own request context, not in that of the call that ended before', async () => {
    use(1);
    const request = new AsyncLocalStorage<string>();
    const { signal } = new AbortController();
    const work = async (): Promise<[string | undefined, number]> => [request.getStore(), 1];
    const cost = (caller: string) => ({ caller, tokens: 1 });
    const all = ['a', 'b', 'c'].map((caller) => request.run(caller, () => queue.run(cost(caller), signal, work)));
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
  });

  it('gives turns by the tokens of the calls, not by their number', () => {
    use(1);
    for (const name of ['a1', 'a2', 'a3']) enter(name, 300);
    for (const name of ['b1', 'b2', 'b3', 'b4', 'b5']) enter(name, 100);
    expect(drain()).toBe('a1 b1 b2 b3 a2 b4 b5 a3');
  });

  it('corrects the cost of a call when it ends', () => {
    use(1);
    for (const name of ['a1', 'a2', 'a3']) enter(name, 500);
    for (const name of ['b1', 'b2']) enter(name, 100);
    leave('a1', 10);
    expect(begun.at(-1)).toBe('b1');
    leave('b1');
    expect(begun.at(-1)).toBe('a2');
    leave('a2', 20);
    expect(begun.at(-1)).toBe('a3');
  });

  it('gives a caller no extra turns after a pause', () => {
    use(1);
    enter('b1');
    enter('a1');
    leave('b1');
    for (let n = 2; n <= 10; n++) enter(`a${n}`);
    for (let n = 1; n <= 5; n++) leave(`a${n}`);
    for (let n = 2; n <= 5; n++) enter(`b${n}`);
    begun = [];
    leave('a6');
    expect(drain()).toBe('b2 a7 b3 a8 b4 a9 b5 a10');
  });

  it('forgets all costs when the queue is empty', () => {
    use(1);
    enter('a1', 10_000);
    leave('a1');
    begun = [];
    for (const name of ['b1', 'a2', 'b2']) enter(name);
    expect(drain()).toBe('b1 a2 b2');
  });

  it('fills new slots at once, and ends no call when slots are removed', () => {
    use(1);
    for (const name of ['a1', 'a2', 'a3']) enter(name);
    queue.resize(2);
    expect(begun).toEqual(['a1', 'a2']);
    queue.resize(1);
    leave('a1');
    expect(begun).toEqual(['a1', 'a2']);
    leave('a2');
    expect(begun).toEqual(['a1', 'a2', 'a3']);
  });

  it('refuses the newest call of the caller with the most calls when another caller comes to a full queue', () => {
    use(1, 4);
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) enter(name);
    for (const name of ['b1', 'b2', 'b3', 'c1', 'c2']) enter(name);
    expect(refused).toEqual(['a5', 'a4', 'b3', 'a3', 'c2']);
    expect(drain()).toBe('a1 b1 c1 a2 b2');
  });

  it('advises a wait of 1 to 60 s, by the calls in the queue and the times of the latest answers', () => {
    use(2, 9);
    expect(queue.busy.advice.retryAfterSeconds).toBe(1);
    for (const ms of [3_000, 5_000]) estimate.record(ms);
    expect(queue.busy.advice.retryAfterSeconds).toBe(2);
    for (let n = 0; n < 11; n++) enter(`a${n}`);
    expect(queue.busy.advice.retryAfterSeconds).toBe(20);
    for (let n = 0; n < 8; n++) estimate.record(500_000);
    expect(queue.busy.advice.retryAfterSeconds).toBe(60);
    for (let n = 0; n < 8; n++) estimate.record(20);
    expect(queue.busy.advice.retryAfterSeconds).toBe(1);
  });
});

describe('RuntimeMeter', () => {
  const usage = { promptTokens: 10, cachedTokens: 4, completionTokens: 5 };

  it('counts times with waiting, and the seconds of work without waiting', () => {
    const meter = new RuntimeMeter();
    meter.answered({ usage, waitedMs: 900, firstTokenMs: 100, betweenTokensMs: [2, 40], tookMs: 600 });
    meter.answered({ usage: null, waitedMs: 0, firstTokenMs: null, tookMs: 30 });
    const { firstToken, betweenTokens, answer, ...rest } = meter.figures(null);
    expect(rest).toEqual({ waiting: 0, running: 0, workedSeconds: 0.63, ...usage });
    expect(firstToken).toMatchObject({ count: 1, sum: 1 });
    expect(betweenTokens).toMatchObject({ count: 2, sum: 0.042 });
    expect(answer).toMatchObject({ count: 2, sum: 1.53 });
    const counts = new Map(answer.within.map(({ seconds, count }) => [seconds, count]));
    expect([0.05, 0.5, 1, 2.5, 60].map((seconds) => counts.get(seconds))).toEqual([1, 1, 1, 2, 2]);
    expect(firstToken.within.find(({ seconds }) => seconds === 1)?.count).toBe(1);
  });
});

it('ChatRuntimesByEngine starts a runtime outside of the request context of its caller', () => {
  const requests = new AsyncRequestContext();
  const starters: (string | null)[] = [];
  const runtime = { status: { state: 'stopped', reason: null }, start: () => starters.push(requests.id) };
  const engine = { kind: 'toy', create: () => runtime as unknown as ChatRuntime } as unknown as ChatEngine;
  const runtimes = new ChatRuntimesByEngine([engine], new CallTelemetry());
  requests.within('req_1', () => runtimes.start('prj_1', { kind: 'toy' }));
  expect(starters).toEqual([null]);
});

const access = {
  allowedHosts: ['gpu.internal', '10.0.0.7:8000', '[::1]:8080', 'api.example.com:443'],
  keys: {
    SERVICE_RUNTIME_KEY_GPU: { key: 'sk-secret', host: null },
    SERVICE_RUNTIME_KEY_BOUND: { key: 'sk-bound', host: '10.0.0.7:8000' },
  },
};
const limits = { queue: 1, timeoutMs: 1_000 };
const onnx = { ...limits, worker: 'none', threads: 1, stopGraceMs: 1, children: new ChildLimits() };
const files = { hasFolder: async (path: string) => path === 'chat' } as ModelFileResolver;
const clock = new ManualClock(new Date(0));
const engines = new ChatRuntimesByEngine(
  [
    new OnnxChatEngine(onnx, files, schemas, new UuidIdGenerator(), clock, new RecordingLog()),
    new OpenAiChatEngine({ ...limits, ...access, schemas, answers }, clock, new RecordingLog()),
  ],
  new CallTelemetry(),
);

const read = (spec: JsonObject) => engines.source(spec);
const openAi = (over: JsonObject = {}) =>
  read({ runtime: 'openai', base_url: 'http://gpu.internal', model: 'm', ...over });
const faultOf = async (reading: Promise<unknown>) => {
  const error = await reading.then(
    () => null,
    (error) => error,
  );
  if (error && !(error instanceof InvalidRequest)) throw error;
  return error?.advice.details?.[0] ?? null;
};

describe('the source of a runtime, read from a spec,', () => {
  it('is a folder and, if given, the type of its weights', async () => {
    const folder = 'chat';
    expect(await read({ runtime: 'onnx', path: 'chat', note: 'mine' })).toEqual({ kind: 'onnx', folder });
    expect(await read({ runtime: 'onnx', path: 'chat', dtype: 'q4' })).toEqual({ kind: 'onnx', folder, dtype: 'q4' });
  });

  it('is an engine and the name that this engine has for the model', async () => {
    expect(await openAi({ base_url: 'HTTP://GPU.internal:8000/v1//' })).toEqual({
      kind: 'openai',
      baseUrl: 'http://gpu.internal:8000/v1',
      key: null,
      model: { model: 'm' },
    });
    const more = { model_aliases: ['m-2', 'm-3'], key_setting: 'SERVICE_RUNTIME_KEY_GPU' };
    expect(await openAi(more)).toMatchObject({ key: 'sk-secret', model: { model_aliases: ['m-2', 'm-3'] } });
    expect(await openAi({ model_aliases: null, key_setting: null })).toMatchObject({ key: null });
  });

  it('gets a bound key only for the host of that key', async () => {
    const key_setting = 'SERVICE_RUNTIME_KEY_BOUND';
    expect(await openAi({ base_url: 'http://10.0.0.7:8000/v1', key_setting })).toMatchObject({ key: 'sk-bound' });
    expect(await faultOf(openAi({ key_setting }))).toEqual({
      path: 'spec.key_setting',
      message: 'names a key for another host',
    });
  });

  const allowedNames =
    'http://gpu.internal/v1 https://gpu.internal:9/v1 https://api.example.com/v1 http://gpu.internal?#';
  const allowedNumbers = 'http://10.0.0.7:8000 http://0x0a.0.0.7:8000 http://[::1]:8080/v1 http://[0:0::0:1]:8080/v1';
  it.each([...allowedNames.split(' '), ...allowedNumbers.split(' ')])(
    'may be at an allowed address: %s',
    async (base_url) => {
      expect(await faultOf(openAi({ base_url }))).toBeNull();
    },
  );

  const elsewhere = `http://10.0.0.7/v1 http://10.0.0.7:8001/v1 http://[::1]/v1 http://api.example.com/v1
    http://gpu.internal.evil.example/v1 http://evil.example/gpu.internal http://gpu.internal@evil.example/v1
    http://user:pass@gpu.internal/v1 http://gpu.internal./v1 http://localhost/v1 http://169.254.169.254/latest
    ftp://gpu.internal/v1 file:///etc/passwd gpu.internal/v1 http:// http://gpu.internal/v1?key=1
    http://gpu.internal/v1#x http://gpu.internal/${'x'.repeat(2_000)}`;
  it.each([...elsewhere.split(/\s+/), '', 7, null])('may not be at any other address: %s', async (base_url) => {
    expect((await faultOf(openAi({ base_url })))?.path).toBe('spec.base_url');
  });

  it.each([
    ['spec.runtime', { runtime: 'magic' }],
    ['spec.model', { model: '' }],
    ['spec.model', { model: 7 }],
    ['spec.model_aliases', { model_aliases: 'm' }],
    ['spec.model_aliases', { model_aliases: ['m', 1] }],
    ['spec.model_aliases', { model_aliases: Array(101).fill('m') }],
    ['spec.key_setting', { key_setting: 'SERVICE_MASTER_KEY' }],
    ['spec.key_setting', { key_setting: 'PATH' }],
    ['spec.key_setting', { key_setting: 'SERVICE_RUNTIME_KEY_NONE' }],
    ['spec.key_setting', { key_setting: 'SERVICE_RUNTIME_KEY_' }],
    ['spec.key_setting', { key_setting: ['SERVICE_RUNTIME_KEY_GPU'] }],
    ['spec.key_setting', { key_setting: 'sk-secret' }],
  ])('is refused with the path of the wrong field: %s (%#)', async (path, over) => {
    const fault = await faultOf(openAi(over as JsonObject));
    expect(fault?.path).toBe(path);
    expect(fault?.message).not.toContain('sk-secret');
  });

  it('is refused with the name of a missing setting', async () => {
    const fault = await faultOf(openAi({ key_setting: 'SERVICE_RUNTIME_KEY_NONE' }));
    expect(fault?.message).toBe('names SERVICE_RUNTIME_KEY_NONE, which is not set');
  });

  it.each([
    { path: '' },
    {},
    { path: 7 },
    { path: '../src' },
    { path: 'chat', dtype: 'q3' },
    { path: 'chat', dtype: '../model' },
  ])('is refused for a wrong folder or type of weights: %j', async (over) => {
    const fault = await faultOf(read({ runtime: 'onnx', ...over } as JsonObject));
    expect(fault?.path).toMatch(/^spec\.(path|dtype)$/);
  });
});
