import { type BatchVerdict, batchKey, joinRows, rowsOf, splitRows } from './batches.js';
import type { RunResult } from './model-worker.js';
import { modelBusy, RequestError } from './request-error.js';
import { almostEqual, type Tensors } from './tensors.js';

const MAX_WAITING = 128;
const MAX_WAIT_MS = 60_000;
/** Without batching, the model's thread has the next request while one runs, so it never waits for the main thread. */
const RUNS_AT_ONCE = 2;
/** After this many joined runs, each request of the last one also runs alone, and the results are compared. */
const SPOT_CHECK_EVERY = 100;

export interface Batching {
  readonly maxRows: number;
  readonly maxDelayMs: number;
}

/** A model that answers its runs in order, and takes over the memory of their inputs. */
export interface QueuedModel {
  readonly verdict: BatchVerdict;
  run(inputs: Tensors): Promise<RunResult>;
  runJoined(inputs: Tensors): Promise<RunResult>;
}

export interface QueueListener {
  /** Called when a run begins. The returned function is called when it ends. */
  runStarted(): (requests: number) => void;
  /** Called when the rows of a batch turn out to affect each other. From then on, requests run alone. */
  batchingRefused(): void;
}

interface Job {
  readonly inputs: Tensors;
  readonly key: string;
  readonly rows: number;
  readonly settle: (result: RunResult | RequestError) => void;
}

/** Passes requests to the model in order. Joins them to batches if batching is set and the model allows it. */
export class InferenceQueue {
  private waiting: Job[] = [];
  private runs = 0;
  /** The size of the last batch, or 1 if too few requests came. The queue waits for this number of requests. */
  private expected = 1;
  private joinedRuns = 0;
  private delay: NodeJS.Timeout | null = null;
  private batching: Batching | null;

  constructor(
    private readonly model: QueuedModel,
    batching: Batching | null,
    private readonly listener: QueueListener,
  ) {
    this.batching = batching;
  }

  get length(): number {
    return this.waiting.length;
  }

  get running(): number {
    return this.runs;
  }

  /** Takes over the memory of the inputs. Throws a RequestError. Cancels a waiting request if its caller leaves. */
  run(inputs: Tensors, onDisconnect: (callback: () => void) => void): Promise<Tensors> {
    if (this.waiting.length >= MAX_WAITING) throw modelBusy('Too many requests wait for the model.');
    return new Promise((resolve, reject) => {
      const job: Job = {
        inputs,
        key: this.batching ? batchKey(inputs) : '',
        rows: this.batching ? rowsOf(inputs) : 0,
        settle: (result) => {
          clearTimeout(timer);
          if (result instanceof RequestError) reject(result);
          else if ('outputs' in result) resolve(result.outputs);
          else reject(modelFailed(result.problem));
        },
      };
      const timer = setTimeout(() => this.cancel(job), MAX_WAIT_MS);
      this.waiting.push(job);
      onDisconnect(() => this.cancel(job));
      this.advance();
    });
  }

  /** Cancels the job unless it has begun. */
  private cancel(job: Job): void {
    const at = this.waiting.indexOf(job);
    if (at < 0) return;
    this.waiting.splice(at, 1);
    job.settle(
      new RequestError('inference_timeout', 'The model was busy for too long.', { 'x-should-retry': 'false' }),
    );
  }

  private advance(): void {
    while (this.waiting.length > 0 && this.runs < (this.batching ? 1 : RUNS_AT_ONCE) && !this.waitsForMore()) {
      void this.start(this.nextBatch());
    }
  }

  /**
   * Returns whether the next batch should wait for more requests. It waits while fewer requests wait than the last
   * batch had, and at most for `maxDelayMs`.
   */
  private waitsForMore(): boolean {
    const { batching, waiting } = this;
    if (!batching || waiting.length >= this.expected) return false;
    this.delay ??= setTimeout(() => {
      this.delay = null;
      this.expected = 1;
      this.advance();
    }, batching.maxDelayMs);
    return true;
  }

  /** Removes and returns the job that has waited longest, and the jobs that can run together with it. */
  private nextBatch(): Job[] {
    if (this.delay) clearTimeout(this.delay);
    this.delay = null;
    const [first] = this.waiting as [Job];
    if (!this.batching || this.model.verdict !== 'equal' || first.rows === 0) return this.waiting.splice(0, 1);
    let room = this.batching.maxRows - first.rows;
    const fits = (job: Job) => job === first || (job.key === first.key && job.rows > 0 && job.rows <= room);
    const batch: Job[] = [];
    this.waiting = this.waiting.filter((job) => {
      if (!fits(job)) return true;
      if (job !== first) room -= job.rows;
      batch.push(job);
      return false;
    });
    this.expected = batch.length;
    return batch;
  }

  private async start(batch: readonly Job[]): Promise<void> {
    this.runs++;
    const joined = batch.length > 1 ? await this.runJoined(batch) : null;
    // If the batch failed, each request runs alone, so that only a bad one fails.
    const results = joined ?? batch.map(({ inputs }) => this.runAlone(inputs));
    await Promise.all(results);
    this.runs--;
    if (this.model.verdict === 'different') this.refuseBatching();
    this.advance();
    for (const [at, { settle }] of batch.entries()) settle((await results[at]) as RunResult);
  }

  private async runAlone(inputs: Tensors): Promise<RunResult> {
    const ended = this.listener.runStarted();
    const result = await this.model.run(inputs);
    ended(1);
    return result;
  }

  /** Returns null if the batch failed. */
  private async runJoined(batch: readonly Job[]): Promise<RunResult[] | null> {
    const ended = this.listener.runStarted();
    const result = await this.model.runJoined(joinRows(batch.map(({ inputs }) => inputs)));
    ended(batch.length);
    const rows = batch.map((job) => job.rows);
    const parts = 'outputs' in result ? splitRows(result.outputs, rows) : null;
    if (!parts) return null;
    const results = parts.map((outputs) => ({ outputs }));
    this.joinedRuns++;
    return this.joinedRuns % SPOT_CHECK_EVERY === 0 ? this.spotChecked(batch, results) : results;
  }

  /** Runs each request alone as well. If the results differ, stops batching and returns those of the single runs. */
  private async spotChecked(batch: readonly Job[], joined: { outputs: Tensors }[]): Promise<RunResult[]> {
    const alone: RunResult[] = [];
    for (const { inputs } of batch) alone.push(await this.runAlone(inputs));
    const isEqual = alone.every((one, at) => 'outputs' in one && almostEqual(joined[at]?.outputs ?? [], one.outputs));
    if (isEqual) return joined;
    this.refuseBatching();
    return alone;
  }

  private refuseBatching(): void {
    if (!this.batching) return;
    this.batching = null;
    this.listener.batchingRefused();
  }
}

const modelFailed = (problem: string): RequestError => {
  const message = `The model failed on this input: ${problem}`;
  return new RequestError('invalid_request', message, {}, [{ path: 'inputs', message: problem }]);
};

/** Calls `onHang` if runs are open and none of them has ended for `limitMs`. */
export class Watchdog {
  private open = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limitMs: number,
    private readonly onHang: () => void,
  ) {}

  /** Counts a run as open until the returned function is called. */
  runStarted(): () => void {
    if (this.open++ === 0) this.restart();
    return () => {
      this.open--;
      this.restart();
    };
  }

  private restart(): void {
    clearTimeout(this.timer);
    if (this.open > 0) this.timer = setTimeout(this.onHang, this.limitMs);
  }
}
