import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryModelFileResolver } from '../../fakes/deployments/memory-model-file-resolver.js';
import { MemoryModelServer } from '../../fakes/deployments/memory-model-server.js';
import { LocalModelServerRig } from '../../support/model-server/local-model-server-rig.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { modelServerContract } from './model-server.contract.js';

const temporary = new TemporaryFolder();
afterAll(() => temporary.remove());

const named = (name: string) => ({ name, modelPath: `${name}.onnx`, maxBatch: null, maxDelayMs: null });

modelServerContract('child processes', true, (limits) => {
  const rig = new LocalModelServerRig(temporary.path, limits);
  return {
    servers: rig.servers,
    model: rig.model('fine'),
    broken: rig.model('garbage'),
    silent: rig.model('mute'),
    missing: named('missing'),
    faults: {
      spoil: () => rig.write('garbage', 'fine'),
      mend: () => rig.write('fine', 'fine'),
      crash: (id) => rig.kill(id),
      freeze: (id) => rig.kill(id, 'SIGSTOP'),
    },
    processes: () => rig.processes().length,
  };
});

modelServerContract('memory', false, (limits) => {
  const never = () => new Promise<never>(() => undefined);
  const answer = async (body: string) => {
    const { do: what } = JSON.parse(body);
    if (what === 'hang') return never();
    const refused = { status: 422, text: '{"code":"invalid_request","request_id":"req_1"}' };
    return what === 'refuse' ? refused : { status: 200, text: `{"outputs":{"y":{"data":[${body.length}]}}}` };
  };
  const load = async (file: string) => {
    if (file.endsWith('silent.onnx')) await never();
    await nextTurn();
    if (file.endsWith('broken.onnx')) throw new Error('Protobuf parsing failed.');
  };
  const files = ['fine', 'broken', 'silent'].map((name) => `/models/${name}.onnx`);
  const resolver = new MemoryModelFileResolver(Object.fromEntries(files.map((file) => [file, { file }])));
  const servers = new MemoryModelServer(resolver, (file) => ({ load: () => load(file), answer }), limits);
  return {
    servers,
    model: named('fine'),
    broken: named('broken'),
    silent: named('silent'),
    missing: named('missing'),
    faults: null,
    processes: () => servers.running,
  };
});
