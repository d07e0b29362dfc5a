import { ChatRuntimes } from '../../src/application/chat/ports.js';
import { type ModelRequest, ModelServer } from '../../src/application/deployments/ports.js';
import { MemoryChatRuntimes } from '../fakes/chat/memory-chat-runtimes.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { fuzz } from '../support/fuzz/fuzz.js';
import { World } from '../support/fuzz/world.js';
import { masterKey } from '../support/monitoring.js';
import { site } from '../support/site.js';
import { TestApp } from './support/test-app.js';

const SEED = 20_261_122;
const REQUESTS = 400;

/** Answers any prediction, valid or not. */
const tooBusy = {
  status: 429,
  text: JSON.stringify({ status: 'error', code: 'model_busy', error: 'The queue is full.', request_id: 'req_1' }),
};

/** Answers the operations that only read. */
const reads = {
  server_metadata: { name: 'tenon', version: '1', extensions: [] },
  server_live: { live: true },
  server_ready: { ready: true },
  model_metadata: { name: 'iris', platform: 'onnx', inputs: [], outputs: [] },
  model_ready: { name: 'iris', ready: true },
};

const modelAnswer = async (_: string, { operation }: ModelRequest) =>
  operation in reads ? { status: 200, text: JSON.stringify(reads[operation as keyof typeof reads]) } : tooBusy;

describe('generated requests', () => {
  let app: TestApp;
  afterAll(() => app.stop());

  it(`are answered as the OpenAPI document says (seed ${SEED})`, async () => {
    const { app: started, ...cast } = await TestApp.withTeam({
      env: {
        SERVICE_MASTER_KEY: masterKey,
        SERVICE_MAX_ACCOUNTS: '1000',
        SERVICE_WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8',
        SERVICE_RUNTIME_ALLOWED_HOSTS: 'gpu.internal:8000',
        SERVICE_RUNTIME_KEY_GPU: 'key',
        ...site,
      },
      adapt: (container) => {
        container.rebind(ModelServer).toConstantValue(new MemoryModelServer(modelAnswer));
        container.rebind(ChatRuntimes).toConstantValue(new MemoryChatRuntimes());
      },
    });
    app = started;
    await app.verifyEmails();
    const world = new World(app, { ...cast, masterKey });
    const { problems } = await fuzz(app.url, world, { requests: REQUESTS, seed: SEED });
    expect(problems).toEqual([]);
  });
});
