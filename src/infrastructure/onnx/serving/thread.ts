import { type TransferListItem, Worker } from 'node:worker_threads';

/** What goes to a thread, and what comes back from it under the same number. */
export interface Numbered<T> {
  readonly call: number;
  readonly content: T;
}

/** A thread of this process that answers each question. The process doesn't outlive it. */
export class Thread<Question, Answer> {
  private readonly worker: Worker;
  private readonly open = new Map<number, (answer: Answer) => void>();
  private calls = 0;

  constructor(program: string, data: unknown, died: (error: Error) => void) {
    this.worker = new Worker(program, { workerData: data });
    this.worker.on('message', ({ call, content }: Numbered<Answer>) => {
      this.open.get(call)?.(content);
      this.open.delete(call);
    });
    this.worker.once('error', died);
    this.worker.once('exit', (code) => died(new Error(`a thread ended with code ${code}`)));
  }

  get busy(): boolean {
    return this.open.size > 0;
  }

  /** The memory in `transfer` is given away. */
  ask(content: Question, transfer: readonly TransferListItem[]): Promise<Answer> {
    this.calls += 1;
    const call = this.calls;
    this.worker.postMessage({ call, content } satisfies Numbered<Question>, transfer);
    return new Promise((resolve) => this.open.set(call, resolve));
  }
}
