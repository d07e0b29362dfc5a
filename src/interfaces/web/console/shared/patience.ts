/** Sends reads again, one at a time, when the service is out of reach or the rate limit is used up. */

/** Says why no read is answered now. */
export interface Outage {
  readonly words: string;
  readonly requestId: string | null;
  /** Tells whether the service asked for the wait: it would refuse an earlier try, and count it. */
  readonly isLimited: boolean;
  /** Has the time of the next try in milliseconds since the epoch. Null: it is running. */
  readonly nextTryAt: number | null;
}

interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly retryAfter: number | null;
}

/** Sends a read. Rejects once `limit` aborts. */
type Send<T> = (limit?: AbortSignal) => Promise<T>;

interface Waiting<T> {
  readonly send: Send<T>;
  readonly resolve: (answer: T) => void;
  readonly reject: (reason: unknown) => void;
}

/** Lists the codes that say that no read is answered now. Any other refusal is that of one read. */
const HOLDING = ['unreachable', 'rate_limited', 'storage_unavailable', 'shutting_down'];
const SHORTEST_WAIT_S = 2;
const LONGEST_WAIT_S = 12;
/** Bounds the wait that the service asks for: its rate limit counts by the minute. */
const LONGEST_ASKED_WAIT_S = 60;
/** Limits a try during an outage: its connection may hang. */
const LONGEST_TRY_MS = 30_000;
const MOST_WAITING = 50;

const holdsAll = (reason: unknown): reason is Refusal =>
  HOLDING.includes((reason as Partial<Refusal> | null)?.code ?? '');

export class Patience {
  /** The newest is last, and is sent first: it belongs to the page that is open. */
  private readonly waiting: Waiting<unknown>[] = [];
  private failures = 0;
  private outage: Outage | null = null;
  /** The last one. */
  private refusal: Refusal | null = null;
  private wake = () => {};
  /** Tells whether the wait is over. The try still waits while the page is hidden. */
  private isDue = false;

  /** `tell` gets each change; null means that all is well. Nothing is sent while the page is hidden. */
  constructor(
    private readonly tell: (outage: Outage | null) => void,
    private readonly isHidden: () => boolean,
  ) {}

  /** Resolves to the answer of `send`, however long an outage takes. Rejects if `send` fails by itself. */
  async send<T>(send: Send<T>): Promise<T> {
    try {
      if (!this.outage) return await send();
    } catch (reason) {
      if (!holdsAll(reason)) throw reason;
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

  /** Tries at once, unless the service asked for the wait. */
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

  /** Sends what waits, one after the other, until nothing does. */
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
      if (!holdsAll(reason)) read.reject(reason);
      else {
        this.note(reason);
        if (limit.signal.aborted)
          this.waiting.unshift(read); // A read that hangs lets all others go first.
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
