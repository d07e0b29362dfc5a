import type { Order } from '../protocol.js';
import { ChatWorker } from './chat-worker.js';

// Ctrl-C in a terminal goes to the whole group of processes: when to end is for the service to say.
process.on('SIGINT', () => undefined);
// This thread is always free to notice that the service is gone, whatever the others do.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const worker = new ChatWorker((report) => process.send?.(report, undefined, undefined, () => undefined));
// An unexpected failure is left to end the process: the service reads its last words and starts another.
process.on('message', (order) => worker.take(order as Order));
