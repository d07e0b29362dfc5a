/** The program of the chat worker. The service starts one for each runtime. */
import { endWithParent } from '../../child-process/managed-process.js';
import type { Order, Report } from '../protocol.js';
import { ChatWorker } from './chat-worker.js';
import { embeds } from './embedding/embedding-files.js';
import { EmbeddingWorker } from './embedding/embedding-worker.js';

endWithParent();
const report = (message: Report) => process.send?.(message, undefined, undefined, () => undefined);
let worker: ChatWorker | EmbeddingWorker | null = null;

/** Runs an order. The first order loads a model. The model's folder decides whether the worker chats or embeds. */
function take(order: Order): void {
  if (order.type === 'load') {
    const Kind = embeds(order.folder) ? EmbeddingWorker : ChatWorker;
    worker ??= new Kind(report);
  }
  worker?.take(order);
}

// An unexpected error ends the process. The service then starts another.
process.on('message', (order) => take(order as Order));
