import { setTimeout as pause } from 'node:timers/promises';
import type { ModelRequest, ModelServer, ServerState } from '../../../src/application/deployments/ports.js';
import type { ServedModel } from '../../../src/domain/deployments/deployment.js';
import { ModelFileInvalid } from '../../../src/domain/deployments/errors.js';
import { ModelServerByKind } from '../../../src/infrastructure/model-server/model-server-by-kind.js';
import { RemoteModelServer } from '../../../src/infrastructure/model-server/remote/remote-model-server.js';
import { MemoryModelServer } from '../../fakes/deployments/memory-model-server.js';
import { InferenceEngine, sendBinary } from '../../support/inference-engine.js';
import { sendJson } from '../../support/local-server.js';
import {
  bodyOf,
  fakeSettings,
  LocalModelServerRig,
  prediction,
  textOf,
} from '../../support/model-server/local-model-server-rig.js';
import { RecordingLog } from '../../support/recording-log.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { within } from '../../support/until.js';

const temporary = new TemporaryFolder();
afterAll(() => temporary.remove());

const unending = () => new AbortController().signal;
const code = (name: string) => expect.objectContaining({ code: name });
const stopped = { status: 'stopped', url: null, reason: null, restarts: 0 };

/** Makes the input for the action of a model. Fake models read `do`; an engine elsewhere reads `inputs`. */
const inputFor = (action: string) => ({ do: action, inputs: { do: [action] } });

/** Asks for a prediction in which the model performs the action. */
const ask = (servers: ModelServer, action: string, signal = unending()) => {
  const answer = servers.request('a', prediction(bodyOf(inputFor(action))), signal);
  answer.catch(() => undefined);
  return answer;
};

const until = async (servers: ModelServer, status: ServerState['status'], id = 'a'): Promise<ServerState> => {
  for (;;) {
    const state = await servers.probe(id);
    if (state.status === status) return state;
    await pause(1);
  }
};

const childProcesses = () => {
  const rig = new LocalModelServerRig(temporary.path);
  return { servers: rig.servers, model: rig.model('fine'), broken: rig.model('garbage'), reason: 'Protobuf parsing' };
};

const memory = () => {
  const answer = async (body: string, { operation, jsonLength }: ModelRequest) => {
    if (body === '') return { status: 200, text: JSON.stringify({ operation, name: 'fine' }) };
    const { do: action } = JSON.parse(body.slice(0, jsonLength ?? body.length));
    const binary = { 'content-type': 'application/octet-stream', 'inference-header-content-length': `${jsonLength}` };
    if (action === 'repeat') return { status: 200, text: body, headers: binary };
    if (action === 'hang') return new Promise<never>(() => undefined);
    const refused = { status: 422, text: '{"code":"invalid_request","request_id":"req_1"}' };
    return action === 'refuse' ? refused : { status: 200, text: `{"outputs":{"y":{"data":[${body.length}]}}}` };
  };
  const model = { kind: 'local', name: 'fine', modelPath: 'fine.onnx', maxBatch: null, maxDelayMs: null } as const;
  const broken = { ...model, modelPath: 'broken.onnx' };
  const load = async (served: ServedModel) => {
    if (served === broken) throw new ModelFileInvalid('Protobuf parsing failed.');
  };
  return { servers: new MemoryModelServer(answer, load), model, broken, reason: 'Protobuf parsing' };
};

/** Starts an engine elsewhere that performs the actions. The tests reach it through `ModelServerByKind`. */
const elsewhere = async () => {
  const engine = await InferenceEngine.start();
  engine.answering = ({ json, binary }, response) => {
    const action = json.do ?? json.inputs[0].data[0];
    const y = { name: 'y', datatype: 'FP32', shape: [1], data: [13] };
    const repeated = { name: 'y', datatype: 'UINT8', shape: [4], parameters: { binary_data_size: 4 } };
    if (action === 'repeat') sendBinary(response, { outputs: [repeated] }, binary);
    else if (action === 'refuse') sendJson(response, 400, { error: 'no' });
    else if (action !== 'hang') sendJson(response, 200, { model_name: 'double', outputs: [y] });
  };
  engine.metadata = { versions: ['1'], inputs: [{ name: 'do', datatype: 'BYTES', shape: [1] }] };
  const settings = { ...fakeSettings, startTimeoutMs: 4_000, allowedHosts: [engine.host], keys: {}, translation: '' };
  const remote = new RemoteModelServer(settings, new RecordingLog());
  const { servers: local } = new LocalModelServerRig(temporary.path);
  const model = {
    kind: 'remote',
    name: 'fine',
    endpoint: engine.url,
    modelName: 'double',
    modelVersion: '1',
    keySetting: null,
  } as const;
  const broken = { ...model, modelName: 'broken' };
  const servers = new ModelServerByKind({ local, remote });
  return { servers, model, broken, reason: 'not ready', end: () => engine.close() };
};

interface Opened {
  servers: ModelServer;
  model: ServedModel;
  broken: ServedModel;
  /** The reason why the broken model cannot be served. */
  reason: string;
  end?: () => Promise<void>;
}

describe.each<[string, () => Opened | Promise<Opened>]>([
  ['child processes', childProcesses],
  ['memory', memory],
  ['engines elsewhere', elsewhere],
])('ModelServer run by %s', (_, open) => {
  let servers: ModelServer;
  let model: ServedModel;
  let broken: ServedModel;
  let reason: string;
  let end: Opened['end'];
  beforeEach(async () => {
    ({ servers, model, broken, reason, end } = await open());
  });
  afterEach(async () => {
    await servers.close();
    await end?.();
  });

  it('starts a model, and returns its state and address until it is stopped', async () => {
    expect(await servers.probe('a')).toEqual(stopped);
    const url = await servers.start('a', model, unending());
    expect(await servers.probe('a')).toEqual({ status: 'running', url, reason: null, restarts: 0 });
    for (const ids of [servers.ids(), servers.ids(model.kind)]) expect(ids).toEqual(['a']);
    expect(servers.ids(model.kind === 'local' ? 'remote' : 'local')).toEqual([]);
    await servers.stop('a');
    await servers.stop('a');
    expect(await servers.probe('a')).toEqual(stopped);
    expect(servers.ids()).toEqual([]);
  });

  it('refuses a model that cannot be served, with a reason, and leaves nothing behind', async () => {
    const refused = servers.start('a', broken, unending());
    await expect(refused).rejects.toEqual(code(model.kind === 'local' ? 'model_file_invalid' : 'endpoint_invalid'));
    await expect(refused).rejects.toThrow(reason);
    expect(await servers.probe('a')).toEqual(stopped);
    expect(servers.ids()).toEqual([]);
  });

  it('resumes models in the background, and refuses calls until they run', async () => {
    await expect(ask(servers, 'echo')).rejects.toEqual(code('runtime_stopped'));
    for (const id of ['a', 'b', 'c']) servers.resume(id, model);
    if (model.kind === 'local') {
      for (const id of ['a', 'b', 'c']) expect((await servers.probe(id)).status).toBe('starting');
      await expect(ask(servers, 'echo')).rejects.toEqual(code('runtime_loading'));
    }
    for (const id of ['a', 'b', 'c']) await until(servers, 'running', id);
  });

  it('passes on bodies, answers and refusals, and ends a call when its signal is aborted', async () => {
    await servers.start('a', model, unending());
    const { status, headers, body } = await ask(servers, 'echo');
    expect({ status, isWhole: ArrayBuffer.isView(body) }).toEqual({ status: 200, isWhole: true });
    expect(headers['content-type']).toMatch('application/json');
    expect(JSON.parse(await textOf(body))).toMatchObject({ outputs: { y: { data: [expect.any(Number)] } } });
    const refused = await ask(servers, 'refuse').then(
      async (answer) => ({ kind: answer.status === 422 && 'invalid', ...JSON.parse(await textOf(answer.body)) }),
      (error) => ({ request_id: 'req_1', ...error }),
    );
    expect(refused).toMatchObject({ kind: 'invalid', code: 'invalid_request', request_id: 'req_1' });
    const leaving = new AbortController();
    const call = ask(servers, 'hang', leaving.signal);
    leaving.abort('gone');
    await expect(call).rejects.toBe('gone');
    await expect(ask(servers, 'echo', AbortSignal.abort('gone'))).rejects.toBe('gone');
  });

  it('passes on each operation and binary tensors, and refuses other versions of the model', async () => {
    await servers.start('a', model, unending());
    const read = async (operation: ModelRequest['operation'], version: string | null = null) => {
      const { status, body } = await servers.request('a', { ...prediction(null), operation, version }, unending());
      return { status, body: JSON.parse(await textOf(body)) };
    };
    for (const operation of ['server_live', 'server_ready', 'server_metadata', 'model_ready'] as const)
      expect(await read(operation)).toMatchObject({ status: 200, body: expect.any(Object) });
    expect(await read('model_metadata', '1')).toMatchObject({ status: 200, body: { name: model.name } });
    await expect(read('model_metadata', '2')).rejects.toEqual(code('not_found'));
    const json = JSON.stringify({ do: 'repeat' });
    const bytes = Buffer.of(0, 1, 127, 10);
    const chunks = (async function* () {
      yield Buffer.concat([Buffer.from(json), bytes]);
    })();
    const infer = { ...prediction({ length: null, chunks }), operation: 'infer', jsonLength: json.length } as const;
    const { status, headers, body } = await servers.request('a', infer, unending());
    const answer = await textOf(body);
    expect(status).toBe(200);
    expect(answer.slice(Number(headers['inference-header-content-length']))).toBe(bytes.toString());
  });

  it('throws the error that the body throws', async () => {
    await servers.start('a', model, unending());
    const failure = new Error('cut off');
    const chunks = (async function* () {
      yield Buffer.from('{');
      throw failure;
    })();
    const call = prediction({ length: null, chunks });
    await expect(servers.request('a', call, unending())).rejects.toBe(failure);
  });

  it('stops every model when it is closed, and starts none afterwards', async () => {
    await servers.start('a', model, unending());
    await servers.close();
    await expect(servers.start('b', model, unending())).rejects.toEqual(code('runtime_unavailable'));
    servers.resume('c', model);
    for (const id of ['a', 'b', 'c']) expect(await servers.probe(id)).toEqual(stopped);
  });
});

/** The fake process acts by the content of its model file: `mute` gives no health proof, `garbage` does not load. */
describe('ModelServer run by child processes', () => {
  let rig: LocalModelServerRig;
  let servers: ModelServer;
  const use = (...settings: ConstructorParameters<typeof LocalModelServerRig>[1][]) => {
    rig = new LocalModelServerRig(temporary.path, ...settings);
    ({ servers } = rig);
  };
  beforeEach(() => use());
  afterEach(() => rig.servers.close());

  const start = (word = 'fine', id = 'a', signal = unending()) => servers.start(id, rig.model(word), signal);
  const spoil = () => rig.write('garbage', 'fine');
  const mend = () => rig.write('fine', 'fine');
  const nothingIsLeft = async () => {
    expect(await servers.probe('a')).toEqual(stopped);
    expect(rig.processes()).toEqual([]);
  };

  it('gives up a start if no health proof comes in time, and leaves nothing behind', async () => {
    use({ startTimeoutMs: 300 });
    await expect(start('mute')).rejects.toEqual(code('runtime_unavailable'));
    await nothingIsLeft();
  });

  it('ends a start when its signal is aborted or the service closes, and leaves nothing behind', async () => {
    const leaving = new AbortController();
    const starting = start('mute', 'a', leaving.signal);
    starting.catch(() => undefined);
    await until(servers, 'starting');
    leaving.abort('gone');
    await expect(starting).rejects.toBe('gone');
    await expect(start('fine', 'b', AbortSignal.abort('gone'))).rejects.toBe('gone');
    const left = start('mute', 'c');
    left.catch(() => undefined);
    await servers.close();
    await expect(left).rejects.toEqual(code('runtime_unavailable'));
    await nothingIsLeft();
  });

  it('restarts a killed process, and keeps the latest lines of its output', async () => {
    expect(await servers.output('a', 10)).toEqual([]);
    await start();
    while ((await servers.output('a', 10)).length === 0) await pause(1);
    rig.kill('a');
    expect(await until(servers, 'running')).toMatchObject({ restarts: 1 });
    expect((await ask(servers, 'echo')).status).toBe(200);
    expect(rig.processes()).toHaveLength(1);
    while ((await servers.output('a', 10)).length < 2) await pause(1);
    expect(await servers.output('a', 10)).toEqual([1, 2].map(() => expect.stringContaining('fine')));
    expect(await servers.output('a', 1)).toHaveLength(1);
  });

  it('repeats a request once if its keep-alive connection was closed', async () => {
    await start();
    expect((await ask(servers, 'close')).status).toBe(200);
    expect((await ask(servers, 'echo')).status).toBe(200);
    await ask(servers, 'close');
    await expect(ask(servers, 'drop')).rejects.toEqual(code('runtime_invalid_response'));
  });

  it('is crash_looping with a reason while it waits for a restart, and runs when it can', async () => {
    const url = await start();
    spoil();
    rig.kill('a');
    expect(await until(servers, 'crash_looping')).toMatchObject({
      url,
      reason: expect.stringContaining('Protobuf parsing failed'),
    });
    await expect(ask(servers, 'echo')).rejects.toEqual(code('runtime_unavailable'));
    mend();
    const { reason, restarts } = await until(servers, 'running');
    expect(reason).toBeNull();
    expect(restarts).toBeGreaterThanOrEqual(2);
  });

  it('is also crash_looping if each restart runs only for a moment', async () => {
    await start();
    for (const _ of [1, 2]) {
      rig.kill('a');
      while ((await servers.probe('a')).status === 'running') await pause(1);
      await until(servers, 'running');
    }
    rig.kill('a');
    expect((await until(servers, 'crash_looping')).reason).toEqual(expect.any(String));
  });

  it('retries a model that could not be resumed, does not delay others, and can be stopped meanwhile', async () => {
    const fine = rig.model('fine');
    spoil();
    servers.resume('a', fine);
    servers.resume('b', { ...fine, modelPath: 'missing.onnx' });
    expect((await until(servers, 'crash_looping')).reason).toMatch('Protobuf');
    await until(servers, 'crash_looping', 'b');
    mend();
    servers.resume('c', fine);
    await until(servers, 'running', 'c');
    await until(servers, 'running');
    await servers.stop('b');
    await pause(150);
    expect(await servers.probe('b')).toEqual(stopped);
    expect(rig.processes()).toHaveLength(2);
  });

  it('reports a process without health proof as unhealthy within two seconds, and kills it on stop', async () => {
    use({ probeTimeoutMs: 1_000 });
    const url = await start();
    rig.kill('a', 'SIGSTOP');
    let state: ServerState | undefined;
    const probe = async () => {
      state = await servers.probe('a');
    };
    expect(await within(2_000, probe)).toBe(true);
    expect(state).toEqual({ status: 'unhealthy', url, reason: expect.any(String), restarts: 0 });
    await servers.stop('a');
    await nothingIsLeft();
  });

  it('waits for the sender of a long body longer than for an answer', async () => {
    use({ inferenceTimeoutMs: 500 });
    await start();
    const [begin, end] = ['{"inputs":{"x":[[1', ']]}}'];
    const chunks = (async function* () {
      yield Buffer.from(begin);
      await pause(1_000);
      yield Buffer.from(end);
    })();
    expect((await servers.request('a', prediction({ length: null, chunks }), unending())).status).toBe(200);
  });

  it('refuses a call if the process dies, answers nonsense or takes too long, and then answers again', async () => {
    use({ inferenceTimeoutMs: 500 });
    await start();
    await expect(ask(servers, 'hang')).rejects.toEqual(code('inference_timeout'));
    for (const action of ['page', 'fault', 'crash', 'half']) {
      await expect(ask(servers, action)).rejects.toEqual(code('runtime_invalid_response'));
      await until(servers, 'running');
    }
    expect((await servers.probe('a')).restarts).toBe(2);
    expect((await ask(servers, 'echo')).status).toBe(200);
  });
});
