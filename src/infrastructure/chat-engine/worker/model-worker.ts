/** Chooses what a worker process does by the folder of its model. */
import type { Order, Report } from '../protocol.js';
import { ChatWorker } from './chat-worker.js';
import { embeds } from './embedding/embedding-files.js';
import { EmbeddingWorker } from './embedding/embedding-worker.js';

export class ModelWorker {
  private worker: ChatWorker | EmbeddingWorker | null = null;

  constructor(private readonly report: (report: Report) => void) {}

  /** The first order is to load a model. */
  take(order: Order): void {
    if (order.type === 'load') {
      const Kind = embeds(order.folder) ? EmbeddingWorker : ChatWorker;
      this.worker ??= new Kind(this.report);
    }
    this.worker?.take(order);
  }
}
