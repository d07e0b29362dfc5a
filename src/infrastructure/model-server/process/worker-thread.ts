import { type ResourceLimits, type TransferListItem, Worker } from 'node:worker_threads';

/** A worker thread that sends one response to each request, in their order. */
export class WorkerThread<Request, Response> {
  private readonly worker: Worker;
  private readonly open: ((response: Response) => void)[] = [];
  private latest: Promise<unknown> = Promise.resolve();

  /** `onDeath` is called when the thread ends, also after `terminate`. */
  constructor(program: string, data: unknown, onDeath: (error: Error) => void, resourceLimits: ResourceLimits = {}) {
    this.worker = new Worker(program, { workerData: data, resourceLimits });
    this.worker.on('message', (response: Response) => this.open.shift()?.(response));
    this.worker.once('error', onDeath);
    this.worker.once('exit', (code) => onDeath(new Error(`a thread ended with code ${code}`)));
  }

  get isBusy(): boolean {
    return this.open.length > 0;
  }

  /** Resolves when every request so far has its response. */
  async idle(): Promise<void> {
    await this.latest;
  }

  /** Moves the memory in `transfer` to the thread. */
  send(request: Request, transfer: readonly TransferListItem[]): Promise<Response> {
    this.worker.postMessage(request, transfer);
    const response = new Promise<Response>((resolve) => this.open.push(resolve));
    this.latest = response;
    return response;
  }

  /** Ends the thread at once. Its open requests get no response. */
  async terminate(): Promise<void> {
    await this.worker.terminate();
  }
}
