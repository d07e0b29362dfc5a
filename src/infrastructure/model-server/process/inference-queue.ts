import type { BatchVerdict } from './batch-check.js';
import { batchKey, joinRows, rowsOf, splitRows } from './batches.js';
import { close } from './closeness.js';
import { Refusal } from './refusal.js';
import type { RunResult } from './session-worker.js';
import type { Tensors } from './tensors.js';

/** Requests that may wait, beside those that run. */
const LONGEST = 128;
const WAITING_MS = 60_000;
/** While one runs the next lies ready, so that the model never waits for this thread. */
const UNDER_WAY = 2;
/** Of so many joined runs one is compared with what its requests get alone. */
const SPOT_CHECK = 100;

export interface Batching {
  /** Rows. */
  readonly max: number;
  readonly delayMs: number;
}

/** The loaded model. Runs answer in the order in which they were asked for. */
export interface Session {
  /** Whether requests may run together. */
  readonly verdict: BatchVerdict;
  run(feeds: Tensors): Promise<RunResult>;
  runJoined(feeds: Tensors): Promise<RunResult>;
}

export interface QueueWatch {
  /** A run begins; what this answers is called at its end. */
  running(): (requests: number) => void;
  /** The model's rows see each other: requests don't run together any more. */
  batchingRefused(): void;
}

interface Waiting {
  readonly feeds: Tensors;
  readonly key: string;
  readonly rows: number;
  readonly settle: (result: RunResult | Refusal) => void;
}

/** The requests on their way to the model: in order, or together where that is wanted and the model allows it. */
export class InferenceQueue {
  private waiting: Waiting[] = [];
  private underWay = 0;
  /** How many requests came together lately: so many are worth waiting for. */
  private expected = 1;
  private joinedRuns = 0;
  private patience: NodeJS.Timeout | null = null;
  private batching: Batching | null;

  constructor(
    private readonly session: Session,
    batching: Batching | null,
    private readonly watch: QueueWatch,
  ) {
    this.batching = batching;
  }

  get length(): number {
    return this.waiting.length;
  }

  /** Runs that the model has been given. */
  get running(): number {
    return this.underWay;
  }

  /** Throws a Refusal. A caller who leaves while waiting is forgotten. */
  run(feeds: Tensors, whenLeft: (forget: () => void) => void): Promise<Tensors> {
    if (this.waiting.length >= LONGEST)
      throw new Refusal('model_busy', 'Too many requests wait for the model.', { 'Retry-After': '1' });
    return new Promise((resolve, reject) => {
      const request: Waiting = {
        feeds,
        key: this.batching ? batchKey(feeds) : '',
        rows: this.batching ? rowsOf(feeds) : 0,
        settle: (result) => {
          clearTimeout(timer);
          if (result instanceof Refusal) reject(result);
          else if ('outputs' in result) resolve(result.outputs);
          else reject(modelFailed(result.problem));
        },
      };
      const timer = setTimeout(() => this.forget(request), WAITING_MS);
      this.waiting.push(request);
      whenLeft(() => this.forget(request));
      this.advance();
    });
  }

  private forget(request: Waiting): void {
    const at = this.waiting.indexOf(request);
    if (at < 0) return;
    this.waiting.splice(at, 1);
    request.settle(new Refusal('inference_timeout', 'The model was busy for too long.', { 'x-should-retry': 'false' }));
  }

  private advance(): void {
    while (this.waiting.length > 0 && this.underWay < (this.batching ? 1 : UNDER_WAY) && !this.worthWaiting()) {
      void this.start(this.next());
    }
  }

  /** Only while others are likely to come, and never longer than the delay. */
  private worthWaiting(): boolean {
    const { batching, waiting } = this;
    if (!batching || waiting.length >= this.expected) return false;
    this.patience ??= setTimeout(() => {
      this.patience = null;
      this.expected = 1;
      this.advance();
    }, batching.delayMs);
    return true;
  }

  /** The longest waiting one, and those that can run together with it. */
  private next(): Waiting[] {
    if (this.patience) clearTimeout(this.patience);
    this.patience = null;
    const [first] = this.waiting as [Waiting];
    if (!this.batching || this.session.verdict !== 'equal' || first.rows === 0) return this.waiting.splice(0, 1);
    let room = this.batching.max - first.rows;
    const fits = (one: Waiting) => one === first || (one.key === first.key && one.rows > 0 && one.rows <= room);
    const batch: Waiting[] = [];
    this.waiting = this.waiting.filter((one) => {
      if (!fits(one)) return true;
      if (one !== first) room -= one.rows;
      batch.push(one);
      return false;
    });
    this.expected = batch.length;
    return batch;
  }

  private async start(batch: readonly Waiting[]): Promise<void> {
    this.underWay++;
    const together = batch.length > 1 ? await this.runTogether(batch) : null;
    // One bad request must not fail the others: alone, only it does.
    const results = together ?? batch.map(({ feeds }) => this.runAlone(feeds));
    await Promise.all(results);
    this.underWay--;
    this.heedVerdict();
    this.advance();
    for (const [at, { settle }] of batch.entries()) settle((await results[at]) as RunResult);
  }

  private async runAlone(feeds: Tensors): Promise<RunResult> {
    const done = this.watch.running();
    const result = await this.session.run(feeds);
    done(1);
    return result;
  }

  /** Null where that is not possible. */
  private async runTogether(batch: readonly Waiting[]): Promise<RunResult[] | null> {
    const done = this.watch.running();
    const result = await this.session.runJoined(joinRows(batch.map(({ feeds }) => feeds)));
    done(batch.length);
    const rows = batch.map((one) => one.rows);
    const parts = 'outputs' in result ? splitRows(result.outputs, rows) : null;
    const results = parts?.map((outputs) => ({ outputs })) ?? null;
    return results && ++this.joinedRuns % SPOT_CHECK === 0 ? this.verified(batch, results) : results;
  }

  /** What the first samples did not show, later requests may: then these callers get what they get alone. */
  private async verified(batch: readonly Waiting[], joined: { outputs: Tensors }[]): Promise<RunResult[]> {
    const alone = await Promise.all(batch.map(({ feeds }) => this.session.run(feeds)));
    const equal = alone.every((one, at) => 'outputs' in one && close(joined[at]?.outputs ?? [], one.outputs));
    if (equal) return joined;
    this.refuseBatching();
    return alone;
  }

  private heedVerdict(): void {
    if (this.session.verdict === 'different') this.refuseBatching();
  }

  private refuseBatching(): void {
    if (!this.batching) return;
    this.batching = null;
    this.watch.batchingRefused();
  }
}

const modelFailed = (problem: string): Refusal => {
  const message = `The model failed on this input: ${problem}`;
  return new Refusal('invalid_request', message, {}, [{ path: 'inputs', message: problem }]);
};
