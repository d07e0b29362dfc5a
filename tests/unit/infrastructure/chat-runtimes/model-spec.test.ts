import type { ModelFileResolver } from '../../../../src/application/deployments/ports.js';
import { InvalidRequest } from '../../../../src/domain/shared/errors.js';
import type { JsonObject } from '../../../../src/domain/workspace/json.js';
import { CallTelemetry } from '../../../../src/infrastructure/chat-runtimes/call-telemetry.js';
import { ChatRuntimesByEngine } from '../../../../src/infrastructure/chat-runtimes/chat-runtimes-by-engine.js';
import { ChildLimits } from '../../../../src/infrastructure/child-process/child-limits.js';
import { OnnxChatEngine } from '../../../../src/infrastructure/onnx-chat/onnx-chat-engine.js';
import { OpenAiChatEngine } from '../../../../src/infrastructure/openai/openai-chat-engine.js';
import { ManualClock } from '../../../fakes/shared/manual-clock.js';
import { schemas } from '../../../support/json-schemas.js';
import { RecordingLog } from '../../../support/recording-log.js';

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
    new OnnxChatEngine(onnx, files, clock, new RecordingLog()),
    new OpenAiChatEngine({ ...limits, ...access, schemas }, clock, new RecordingLog()),
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
