import { type ResourceLimits, type TransferListItem, Worker } from 'node:worker_threads';

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
  private latest: Promise<unknown> = Promise.resolve();

  constructor(program: string, data: unknown, died: (error: Error) => void, resourceLimits: ResourceLimits = {}) {
    this.worker = new Worker(program, { workerData: data, resourceLimits });
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

  /** Resolves when all that was asked has been answered. Answers come in the order of the questions. */
  async idle(): Promise<void> {
    await this.latest;
  }

  /** The memory in `transfer` is given away. */
  ask(content: Question, transfer: readonly TransferListItem[]): Promise<Answer> {
    this.calls += 1;
    const call = this.calls;
    this.worker.postMessage({ call, content } satisfies Numbered<Question>, transfer);
    const answer = new Promise<Answer>((resolve) => this.open.set(call, resolve));
    this.latest = answer;
    return answer;
  }

  /** Ends it, whatever it does. */
  async end(): Promise<void> {
    await this.worker.terminate();
  }
}
