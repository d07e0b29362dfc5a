import { type ResourceLimits, type TransferListItem, Worker } from 'node:worker_threads';
import { Lane } from './scheduling.js';

/** A worker thread that answers each request with one response, in order. */
export class WorkerThread<Request, Response> {
  private readonly worker: Worker;
  private readonly open: ((response: Response) => void)[] = [];
  private latest: Promise<unknown> = Promise.resolve();

  /** `onDeath` is called once, after the thread has ended, also by `terminate`. */
  constructor(program: string, data: unknown, onDeath: (error: Error) => void, resourceLimits: ResourceLimits = {}) {
    this.worker = new Worker(program, { workerData: data, resourceLimits });
    this.worker.on('message', (response: Response) => this.open.shift()?.(response));
    let reason: Error | null = null;
    this.worker.once('error', (error) => {
      reason = error;
    });
    this.worker.once('exit', (code) => onDeath(reason ?? new Error(`a thread ended with code ${code}`)));
  }

  get isBusy(): boolean {
    return this.open.length > 0;
  }

  /** Resolves when every request so far has its response. */
  async idle(): Promise<void> {
    await this.latest;
  }

  /** Sends a request and moves the memory in `transfer` to the thread. */
  send(request: Request, transfer: readonly TransferListItem[]): Promise<Response> {
    this.worker.postMessage(request, transfer);
    const response = new Promise<Response>((resolve) => this.open.push(resolve));
    this.latest = response;
    return response;
  }

  /** Lets the process end although the thread runs. */
  unref(): void {
    this.worker.unref();
  }

  /** Ends the thread at once. Its open requests get no response. */
  async terminate(): Promise<void> {
    await this.worker.terminate();
  }
}

/** Works on one large body after another in a thread. The main thread stays free for other callers meanwhile. */
export class LargeBodyThread<Request extends object, Response> {
  private thread: WorkerThread<Request, Response> | null = null;
  private readonly turns = new Lane(1, Number.POSITIVE_INFINITY, () => new Error('too many large bodies'));
  private fail: (error: Error) => void = () => undefined;

  /** `program` is the path of the compiled program of the thread. It starts with the first body. */
  constructor(
    private readonly program: string,
    private readonly limits: ResourceLimits,
  ) {}

  /**
   * Returns the response to a request when the earlier ones have theirs. Takes over the memory of `body`, which is part
   * of the request. Resolves to null if the thread runs out of memory. Throws the reason of the signal if it aborts
   * before the response, and forgets a request that waits.
   */
  async send(request: Request, body: Uint8Array, signal?: AbortSignal): Promise<Response | null> {
    try {
      const response = await this.turns.run(() => this.inThread(request, body), signal);
      signal?.throwIfAborted();
      return response;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY') return null;
      throw error;
    }
  }

  /** Ends the thread. Its running request fails. */
  async close(): Promise<void> {
    await this.thread?.terminate();
  }

  private inThread(request: Request, body: Uint8Array): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.fail = reject;
      this.thread ??= this.started();
      this.thread.send(request, wholeBuffers([body])).then(resolve, reject);
    });
  }

  private started(): WorkerThread<Request, Response> {
    const onDeath = (error: Error) => {
      this.thread = null;
      this.fail(error);
    };
    const thread = new WorkerThread<Request, Response>(this.program, null, onDeath, this.limits);
    thread.unref();
    return thread;
  }
}

/** Returns the buffers that can be moved to another thread. Bytes that are only a part of their buffer are copied. */
export function wholeBuffers(bytes: readonly Uint8Array[]): ArrayBuffer[] {
  return bytes.flatMap(({ buffer, byteLength }) => (buffer.byteLength === byteLength ? [buffer as ArrayBuffer] : []));
}
