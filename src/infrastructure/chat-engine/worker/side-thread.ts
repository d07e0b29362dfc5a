import { join } from 'node:path';
import { type TransferListItem, Worker } from 'node:worker_threads';

/** A thread of this process that takes orders and reports. The process doesn't outlive it: its error is the process's. */
export class SideThread<Order, Report> {
  private readonly worker: Worker;

  /** `program` lies beside this file. */
  constructor(program: string, hear: (report: Report) => void) {
    this.worker = new Worker(join(__dirname, program));
    this.worker.on('message', hear);
    this.worker.once('exit', (code) => {
      throw new Error(`a thread ended with code ${code}`);
    });
  }

  /** The memory in `transfer` is given away. */
  send(order: Order, transfer: readonly TransferListItem[] = []): void {
    this.worker.postMessage(order, transfer);
  }
}
