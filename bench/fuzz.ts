import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { fuzz } from '../tests/support/fuzz/fuzz.js';
import { World } from '../tests/support/fuzz/world.js';
import { castOf, masterKey } from '../tests/support/monitoring.js';
import { FLOAT, onnxFile } from '../tests/support/onnx/onnx-graph.js';
import { Service, temporaryFolder } from '../tests/support/service.js';

/**
 * Starts a service, sends generated requests to it and compares every answer with the OpenAPI document. The same seed
 * repeats the same requests. `npm run fuzz [requests] [seed]`
 */
const REQUESTS = Number(process.argv[2] ?? 5_000);
const SEED = Number(process.argv[3] ?? Date.now() % 2 ** 31);

/** A model that accepts the example of a prediction in the OpenAPI document. */
const model = onnxFile({
  inputs: [['input', FLOAT, ['n', 4]]],
  outputs: [['output', FLOAT, ['n', 4]]],
  nodes: [{ op: 'Add', inputs: ['input', 'input'], outputs: ['output'] }],
});

async function main(): Promise<void> {
  globalThis.undocumented = require(join(process.cwd(), 'tests/support/documented-answers.cjs')).undocumented;
  const folder = await temporaryFolder();
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  const server = await startEmbeddedPostgres({ folder: join(folder, 'postgres') });
  const env = {
    SERVICE_MASTER_KEY: masterKey,
    SERVICE_MAX_ACCOUNTS: '10000',
    SERVICE_WEBHOOK_ALLOW_NETWORKS: '127.0.0.1',
    SERVICE_RUNTIME_ALLOWED_HOSTS: 'gpu.internal:8000',
    SERVICE_RUNTIME_KEY_GPU: 'key',
  };
  const service = await Service.start({ alone: 'its state', databaseUrl: server.url, dataDir, env });
  try {
    const { regular: stranger, ...cast } = await castOf(service);
    const world = new World(service, { ...cast, stranger, masterKey }, model);
    const { requests, problems } = await fuzz(service.url, world, { requests: REQUESTS, seed: SEED });
    for (const problem of problems) console.log(problem);
    console.log(`${requests} requests, ${problems.length} answers that the document does not allow (seed ${SEED})`);
    process.exitCode = problems.length > 0 ? 1 : 0;
  } finally {
    await service.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

void main();
