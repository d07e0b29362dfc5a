import { MemoryModelFileResolver } from '../../fakes/deployments/memory-model-file-resolver.js';
import { MemoryModelServer } from '../../fakes/deployments/memory-model-server.js';
import type { MemoryServedModel } from '../../fakes/deployments/memory-server.js';
import { LocalModelServerRig } from '../../support/model-server/local-model-server-rig.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { type ModelServerUnderTest, modelServerContract } from './model-server.contract.js';

const temporary = new TemporaryFolder();
afterAll(() => temporary.remove());

const named = (name: string) => ({ name, modelPath: `${name}.onnx`, maxBatch: null, maxDelayMs: null });

modelServerContract('child processes', (limits): ModelServerUnderTest => {
  const rig = new LocalModelServerRig(temporary.path, limits);
  return {
    servers: rig.servers,
    model: rig.model('fine'),
    broken: rig.model('garbage'),
    silent: rig.model('mute'),
    missing: named('missing'),
    spoil: () => rig.write('garbage', 'fine'),
    mend: () => rig.write('fine', 'fine'),
    crash: (id) => rig.kill(id),
    freeze: (id) => rig.kill(id, 'SIGSTOP'),
    processes: () => rig.processes().length,
  };
});

modelServerContract('memory', (limits): ModelServerUnderTest => {
  let spoilt = false;
  const answers: Record<string, () => Promise<unknown>> = {
    refuse: async () => ({ status: 422, text: '{"code":"invalid_request","request_id":"req_1"}' }),
    page: async () => '<p>',
    hang: () => new Promise(() => undefined),
    crash: async () => {
      servers.crash('a');
      return new Promise(() => undefined);
    },
  };
  const echo = async (body: string) => ({ status: 200, text: `{"outputs":{"y":{"data":[${body.length}]}}}` });
  const modelOf = (file: string): MemoryServedModel => ({
    load: async () => {
      if (file.endsWith('silent.onnx')) return new Promise(() => undefined);
      if (file.endsWith('broken.onnx') || spoilt) throw new Error('Protobuf parsing failed.');
    },
    answer: async (body) => (answers[JSON.parse(body).do] ?? (() => echo(body)))(),
  });
  const files = Object.fromEntries(['fine', 'broken', 'silent'].map((name) => [`/models/${name}.onnx`, name]));
  const known = Object.fromEntries(Object.keys(files).map((file) => [file, { file }]));
  const servers = new MemoryModelServer(new MemoryModelFileResolver(known), modelOf, limits);
  return {
    servers,
    model: named('fine'),
    broken: named('broken'),
    silent: named('silent'),
    missing: named('missing'),
    spoil: () => {
      spoilt = true;
    },
    mend: () => {
      spoilt = false;
    },
    crash: (id) => servers.crash(id),
    freeze: (id) => servers.freeze(id),
    processes: () => servers.running,
  };
});
