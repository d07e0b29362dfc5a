import { InferenceTimeout } from '../../domain/chat/errors.js';
import type { Bounds } from './ports.js';

/** The time that the budgets of a call allow is over. The call is charged, because its model has worked. */
export class BudgetTimeOver extends InferenceTimeout {}

/** Ends a call when the time that its budgets allow is over. The time begins when the model begins. */
export class CallDeadline {
  /** Aborts with the call, and at the end of its time. */
  readonly signal: AbortSignal;
  private readonly over = new AbortController();
  private readonly mostMs: number | null;
  private readonly ended = new AbortController();
  private timer: NodeJS.Timeout | undefined;

  constructor(signal: AbortSignal, bounds: Bounds | null) {
    this.mostMs = bounds?.mostMs ?? null;
    this.signal = bounds ? this.over.signal : signal;
    if (!bounds) return;
    // A listener costs far less than `AbortSignal.any`.
    const abort = () => this.over.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true, signal: this.ended.signal });
    if (signal.aborted) abort();
  }

  /** Begins the time. Calls `expired` at its end, after `signal` has aborted. */
  begin(expired?: () => void): void {
    const { mostMs } = this;
    if (mostMs === null) return;
    const expire = () => {
      this.over.abort(new BudgetTimeOver(mostMs / 1_000));
      expired?.();
    };
    clearTimeout(this.timer);
    this.timer = setTimeout(expire, mostMs).unref();
  }

  /** Ends the time. From now on, `signal` does not abort. */
  end(): void {
    clearTimeout(this.timer);
    this.ended.abort();
  }
}
