/** The program of the worker process, which the service starts for each runtime. */
import type { Order } from '../protocol.js';
import { ChatWorker } from './chat-worker.js';

// Ctrl-C in a terminal reaches every process of the group. The service decides when this one ends.
process.on('SIGINT', () => undefined);
// The service is gone. The other threads may be inside native code, so only a signal ends the process at once.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const worker = new ChatWorker((report) => process.send?.(report, undefined, undefined, () => undefined));
// An unexpected error ends the process: the service reads its last output and starts another.
process.on('message', (order) => worker.take(order as Order));
