/** Repeats reads, one at a time, while the service is out of reach or the rate limit is used up. */

/** The reason why no read is answered now. */
export interface Outage {
  readonly words: string;
  readonly requestId: string | null;
  /** True if the rate limit asked for the wait. An earlier attempt would be refused and counted. */
  readonly isLimited: boolean;
  /** The time of the next attempt in milliseconds since the epoch, or null while the attempt runs. */
  readonly nextTryAt: number | null;
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly retryAfter: number | null;
}

/** Sends a read. Rejects when `limit` aborts. */
type Send<T> = (limit?: AbortSignal) => Promise<T>;

interface Waiting<T> {
  readonly send: Send<T>;
  readonly resolve: (answer: T) => void;
  readonly reject: (reason: unknown) => void;
}

/** The codes of errors that concern all reads. Any other error concerns only one read. */
const OUTAGE_CODES = ['unreachable', 'rate_limited', 'storage_unavailable', 'instance_outdated', 'shutting_down'];
const SHORTEST_WAIT_S = 2;
const LONGEST_WAIT_S = 12;
/** The longest wait that the service may ask for. Its rate limit counts by the minute. */
const LONGEST_ASKED_WAIT_S = 60;
/** Limits an attempt during an outage, because its connection may hang. */
const LONGEST_TRY_MS = 30_000;
const MOST_WAITING = 50;

const isOutage = (reason: unknown): reason is Refusal =>
  OUTAGE_CODES.includes((reason as Partial<Refusal> | null)?.code ?? '');

export class RetryQueue {
  /** The newest read is last. It is sent first, because it belongs to the open page. */
  private readonly waiting: Waiting<unknown>[] = [];
  private failures = 0;
  private outage: Outage | null = null;
  /** The last error. */
  private refusal: Refusal | null = null;
  private wake = () => {};
  /** True if the time of the wait is over. If the page is hidden then, the attempt waits until the page is visible. */
  private isDue = false;

  /** `tell` gets each change of the outage, and null at its end. While the page is hidden, only `tryNow` ends waits. */
  constructor(
    private readonly tell: (outage: Outage | null) => void,
    private readonly isHidden: () => boolean,
  ) {}

  /**
   * Resolves to the answer of `send`, after an outage if need be. Rejects if the error concerns only this read, or if
   * more than MOST_WAITING reads wait and this one is the oldest.
   */
  async send<T>(send: Send<T>): Promise<T> {
    try {
      if (!this.outage) return await send();
    } catch (reason) {
      if (!isOutage(reason)) throw reason;
      if (!this.outage) {
        this.note(reason);
        void this.serve();
      }
    }
    return new Promise<T>((resolve, reject) => {
      this.waiting.push({ send, resolve, reject } as Waiting<unknown>);
      if (this.waiting.length > MOST_WAITING) this.waiting.shift()?.reject(this.refusal);
    });
  }

  /** Makes an attempt at once, but not during a wait that the rate limit asked for. */
  tryNow(): void {
    if (this.outage && (!this.outage.isLimited || this.isDue)) this.wake();
  }

  private note(refusal: Refusal): void {
    const { code, message, requestId, retryAfter } = refusal;
    this.refusal = refusal;
    this.failures += 1;
    const isLimited = code === 'rate_limited';
    const pause = Math.min(SHORTEST_WAIT_S * 2 ** (this.failures - 1), LONGEST_WAIT_S);
    const wait = Math.max(pause, Math.min(retryAfter ?? 0, LONGEST_ASKED_WAIT_S));
    this.change({ words: message, requestId, isLimited, nextTryAt: Date.now() + wait * 1000 });
  }

  private change(outage: Outage | null): void {
    this.outage = outage;
    this.tell(outage);
  }

  /** Sends the waiting reads, one after the other, until there are none. */
  private async serve(): Promise<void> {
    for (;;) {
      await this.due();
      const next = this.waiting.pop();
      if (!next) break;
      if (this.outage) this.change({ ...this.outage, nextTryAt: null });
      await this.try(next);
    }
    this.failures = 0;
    this.change(null);
  }

  private async try(read: Waiting<unknown>): Promise<void> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new DOMException('No answer in time.', 'TimeoutError')), LONGEST_TRY_MS);
    try {
      read.resolve(await read.send(limit.signal));
    } catch (reason) {
      if (!isOutage(reason)) read.reject(reason);
      else {
        this.note(reason);
        if (limit.signal.aborted)
          this.waiting.unshift(read); // other reads go before a read that hangs
        else this.waiting.push(read);
      }
    }
    clearTimeout(timer);
  }

  private async due(): Promise<void> {
    const at = this.outage?.nextTryAt;
    if (!at) return;
    this.isDue = false;
    await new Promise<void>((resolve) => {
      const onTime = () => {
        this.isDue = true;
        if (!this.isHidden()) resolve();
      };
      const timer = setTimeout(onTime, at - Date.now());
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wake = () => {};
  }
}
