/** The program of the worker process, which the service starts for each runtime. */
import { endWithParent } from '../../child-process/managed-process.js';
import type { Order } from '../protocol.js';
import { ModelWorker } from './model-worker.js';

endWithParent();
const worker = new ModelWorker((report) => process.send?.(report, undefined, undefined, () => undefined));
// An unexpected error ends the process: the service reads its last output and starts another.
process.on('message', (order) => worker.take(order as Order));
