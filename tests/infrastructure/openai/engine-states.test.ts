import type { ChatRuntime } from '../../../src/application/chat/ports.js';
import type { HttpSource } from '../../../src/infrastructure/http-engine/engine-spec.js';
import { OpenAiChatEngine } from '../../../src/infrastructure/openai/openai-chat-engine.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { schemas } from '../../support/json-schemas.js';
import { RecordingLog } from '../../support/recording-log.js';
import { ScriptedEngine } from '../../support/scripted-engine.js';
import { until } from '../../support/until.js';

describe('an engine that answers 503 when it is asked for its models', () => {
  const LOAD_MS = 60_000;
  let engine: ScriptedEngine;
  let runtime: ChatRuntime;
  let log: RecordingLog;
  let clock: ManualClock;

  beforeAll(async () => {
    engine = await ScriptedEngine.start();
  });
  beforeEach(() => {
    clock = new ManualClock(new Date(0));
    log = new RecordingLog();
    const waits = { loadTimeoutMs: LOAD_MS, retryDelayMs: { first: 1, max: 5 } };
    const limits = { queue: 1, timeoutMs: 20_000 };
    const openAi = new OpenAiChatEngine({ ...limits, ...waits, schemas, allowedHosts: [], keys: {} }, clock, log);
    engine.models = 503;
    runtime = openAi.create('a');
    const source: HttpSource<object> = { kind: 'openai', baseUrl: engine.url, key: null, model: { model: 'm' } };
    runtime.start(source);
  });
  afterEach(() => runtime.stop());
  afterAll(() => engine.close());

  const status = () => runtime.status;
  const reaches = (state: string) => until(`it is ${state}`, () => status().state === state, 1);
  const ask = () => {
    const request = { messages: [{ role: 'user' as const, content: 'Hi' }], maxTokens: null, temperature: 0 };
    return runtime.complete(request, { caller: 'usr_a', signal: new AbortController().signal });
  };

  it('is loading, is asked again, and becomes ready when it answers 200', async () => {
    await log.saw('chat runtime loading', 3);
    expect(status()).toEqual({ state: 'loading', reason: null });
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
