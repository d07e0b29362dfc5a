import { endWithParent } from '../../child-process/managed-process.js';
import type { ServeOrder, ServerMessage } from '../protocol.js';
import { hasRows } from './batches.js';
import { HttpServer } from './http-server.js';
import { BodyReader, Inference } from './inference.js';
import { type Batching, InferenceQueue, Watchdog } from './inference-queue.js';
import { Metrics } from './metrics.js';
import { createRouter } from './routes.js';
import type { Signature } from './tensors.js';
import { ModelThread, ThreadedCodec } from './threads.js';

// The program of a model server. It waits for one ServeOrder, loads the model, and serves it over HTTP.

/** The caller's timeout must expire before the watchdog reports a hanging model. */
const HANG_GRACE_MS = 1_000;

endWithParent();
process.once('message', (order) => void serve(order as ServeOrder));
process.once('SIGTERM', () => void shutDown());

const model = new ModelThread(onModelDeath);
let server: HttpServer | null = null;
let graceMs = 0;

async function serve(order: ServeOrder): Promise<void> {
  graceMs = order.graceMs;
  const { file, threads, maxBatch } = order;
  const signature = await model.load({ file, threads, batching: maxBatch !== null });
  if ('reason' in signature) return send({ type: 'broken', reason: signature.reason }, () => process.exit(0));
  server = createServer(order, signature);
  send({ type: 'listening', port: await server.listen() });
}

function createServer(order: ServeOrder, signature: Signature): HttpServer {
  const metrics = new Metrics();
  const watchdog = new Watchdog(order.inferenceTimeoutMs + HANG_GRACE_MS, () => send({ type: 'stuck' }));
  const queue = new InferenceQueue(model, batchingOf(order, signature), {
    runStarted: () => {
      const [measured, watched] = [metrics.runStarted(), watchdog.runStarted()];
      return (requests) => {
        watched();
        measured(requests);
      };
    },
    batchingRefused: () =>
      writeLine('stdout', 'batching is off: this model gives other answers when requests run together'),
  });
  metrics.addQueue(queue);
  const codec = new ThreadedCodec({ signature, name: order.name });
  const inference = new Inference(new BodyReader(order.bodyLimit), codec, queue);
  return new HttpServer(createRouter({ ...order, ...signature }, inference, metrics), {
    answered: (route, status) => metrics.answered(route, status),
    failed: (requestId, error) => writeLine('stderr', `${requestId}: ${stackOf(error)}`),
  });
}

function batchingOf({ maxBatch, maxDelayMs }: ServeOrder, signature: Signature): Batching | null {
  if (maxBatch === null) return null;
  if (hasRows(signature)) return { maxRows: maxBatch, maxDelayMs };
  writeLine('stdout', 'batching is off: not every input and output of this model has a free first dimension');
  return null;
}

/** Drains the server, but not longer than the grace period. Then ends the process. */
async function shutDown(): Promise<void> {
  const timeout = new Promise((resolve) => setTimeout(resolve, graceMs));
  await Promise.race([timeout, Promise.all([server?.drain(), model.idle()])]);
  // process.exit would wait for the run of the model.
  if (model.isBusy) process.kill(process.pid, 'SIGKILL');
  process.exit(0);
}

function onModelDeath(error: Error): void {
  writeLine('stderr', stackOf(error));
  process.exit(1);
}

/** Returns the name and the stack. Leaves out the message, because it may quote a request. */
function stackOf(error: unknown): string {
  const { name, stack = '' } = error instanceof Error ? error : new Error();
  const frames = stack.split('\n').filter((line) => /^ +at /.test(line));
  return [name, ...frames.map((line) => line.trim())].join(' ');
}

const writeLine = (stream: 'stdout' | 'stderr', line: string): void => void process[stream].write(`${line}\n`);

function send(message: ServerMessage, sent: () => void = () => undefined): void {
  process.send?.(message, undefined, undefined, sent);
}
