import { v7 as uuid } from 'uuid';
import { endWithParent } from '../../child-process/parent-death.js';
import type { ServeOrder, ServerMessage } from '../protocol.js';
import { mayHaveRows } from './batches.js';
import { Codecs } from './codecs.js';
import { type Batching, InferenceQueue } from './inference-queue.js';
import { InferenceRoutes } from './inference-routes.js';
import { Metrics } from './metrics.js';
import { modelRoutes } from './model-routes.js';
import { RequestBodies } from './request-bodies.js';
import { Router } from './router.js';
import { ServingServer } from './serving-server.js';
import { SessionThread } from './session-thread.js';
import { StuckWatch } from './stuck-watch.js';
import type { Signature } from './tensors.js';

/** The caller hears of the time-out first. */
const STUCK_GRACE_MS = 1_000;

endWithParent();

const session = new SessionThread(died);
let server: ServingServer | null = null;
/** Until there is something to serve, nothing runs. */
let graceMs = 0;

process.once('SIGTERM', async () => {
  const grace = new Promise((resolve) => setTimeout(resolve, graceMs));
  await Promise.race([grace, Promise.all([server?.drain(), session.idle()])]);
  // An orderly end would wait for the model.
  if (session.busy) process.kill(process.pid, 'SIGKILL');
  process.exit(0);
});

async function serve(order: ServeOrder): Promise<void> {
  const { file, threads, maxBatch } = order;
  graceMs = order.graceMs;
  const signature = await session.load({ file, threads, batching: maxBatch !== null });
  if ('reason' in signature) return report({ type: 'broken', reason: signature.reason }, () => process.exit(0));
  server = serverOf(order, signature);
  report({ type: 'listening', port: await server.listen() });
}

function serverOf(order: ServeOrder, signature: Signature): ServingServer {
  const { id, name } = order;
  const metrics = new Metrics();
  const watch = new StuckWatch(order.inferenceTimeoutMs + STUCK_GRACE_MS, () => report({ type: 'stuck' }));
  const queue = new InferenceQueue(session, batchingOf(order, signature), {
    running: () => {
      const [measured, watched] = [metrics.running(), watch.running()];
      return (requests) => {
        watched();
        measured(requests);
      };
    },
    batchingRefused: () => say('batching is off: this model would answer requests that run together differently'),
  });
  metrics.watch(queue);
  const inference = new InferenceRoutes(new RequestBodies(order.bodyLimit), new Codecs({ signature, name }), queue);
  const router = new Router(modelRoutes({ ...order, ...signature }, inference, metrics), [name, id]);
  const calls = {
    answered: (route: string, status: number) => metrics.answered(route, status),
    failed: (requestId: string, error: unknown) => complain(`${requestId}: ${placesOf(error)}`),
  };
  return new ServingServer(router, calls, () => `req_${uuid()}`);
}

function batchingOf({ maxBatch, maxDelayMs }: ServeOrder, signature: Signature): Batching | null {
  if (maxBatch === null) return null;
  if (mayHaveRows(signature)) return { max: maxBatch, delayMs: maxDelayMs };
  say('batching is off: not every input and output of this model has a free first dimension');
  return null;
}

function died(error: Error): void {
  complain(`${error.name}: ${placesOf(error)}`);
  process.exit(1);
}

/** Where an error came from. Its message is left out, since it may quote a request. */
function placesOf(error: unknown): string {
  const { name, stack = '' } = error instanceof Error ? error : new Error();
  const places = stack.split('\n').filter((line) => /^ +at /.test(line));
  return [name, ...places.map((line) => line.trim())].join(' ');
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

function report(message: ServerMessage, sent: () => void = () => undefined): void {
  process.send?.(message, undefined, undefined, sent);
}

process.once('message', (order) => void serve(order as ServeOrder));
