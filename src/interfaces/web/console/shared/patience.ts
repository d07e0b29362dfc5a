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

interface Waiting<T> {
  readonly send: () => Promise<T>;
  readonly resolve: (answer: T) => void;
  readonly reject: (reason: unknown) => void;
}

/** Lists the codes that say that a read is answered later. A proxy in front of the service answers a number. */
const PASSING = ['unreachable', 'rate_limited', 'storage_unavailable', 'shutting_down', 'busy', '502', '503', '504'];
const SHORTEST_WAIT_S = 2;
const LONGEST_WAIT_S = 12;
const MOST_WAITING = 50;

const isPassing = (reason: unknown): reason is Refusal =>
  PASSING.includes((reason as Partial<Refusal> | null)?.code ?? '');

export class Patience {
  /** The newest is last, and is sent first: it belongs to the page that is open. */
  private readonly waiting: Waiting<unknown>[] = [];
  private failures = 0;
  private outage: Outage | null = null;
  /** The last one. */
  private refusal: Refusal | null = null;
  private wake = () => {};

  /** `tell` gets each change; null means that all is well. Nothing is sent while the page is hidden. */
  constructor(
    private readonly tell: (outage: Outage | null) => void,
    private readonly isHidden: () => boolean,
  ) {}

  /** Resolves to the answer of `send`, however long it takes. Rejects if `send` fails for good. */
  async send<T>(send: () => Promise<T>): Promise<T> {
    try {
      if (!this.outage) return await send();
    } catch (reason) {
      if (!isPassing(reason)) throw reason;
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
    if (this.outage && (!this.outage.isLimited || Date.now() >= (this.outage.nextTryAt ?? 0))) this.wake();
  }

  private note(refusal: Refusal): void {
    const { code, message, requestId, retryAfter } = refusal;
    this.refusal = refusal;
    this.failures += 1;
    const isLimited = code === 'rate_limited';
    const pause = Math.min(SHORTEST_WAIT_S * 2 ** (this.failures - 1), LONGEST_WAIT_S);
    const wait = isLimited ? (retryAfter ?? LONGEST_WAIT_S) : pause;
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
      try {
        next.resolve(await next.send());
      } catch (reason) {
        if (isPassing(reason)) {
          this.waiting.push(next);
          this.note(reason);
        } else next.reject(reason);
      }
    }
    this.failures = 0;
    this.change(null);
  }

  private async due(): Promise<void> {
    const at = this.outage?.nextTryAt;
    if (!at) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      setTimeout(() => this.isHidden() || resolve(), at - Date.now());
    });
    this.wake = () => {};
  }
}
