import type { Order } from '../protocol.js';
import { ChatWorker } from './chat-worker.js';
import { holdLifeline } from './lifeline.js';

/** The number that `RuntimeProcess` gives the lifeline. */
const LIFELINE = 4;

// Ctrl-C in a terminal goes to the whole group of processes: when to end is for the service to say.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

async function main(): Promise<void> {
  await holdLifeline(LIFELINE);
  const worker = new ChatWorker((report) => process.send?.(report, undefined, undefined, () => undefined));
  // An unexpected failure is left to end the process: the service reads its last words and starts another.
  process.on('message', (order) => void worker.take(order as Order));
}

void main();
