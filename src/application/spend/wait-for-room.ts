import { BudgetExceeded } from '../../domain/spend/budget.js';
import { KeyLimitReached } from '../../domain/spend/key-limit.js';
import { RetryAfter } from '../shared/retry-after.js';

/** The time that work in the background waits for a budget or for a limit of its API key. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1_000;

/** Tells whether waiting can help. A call that is too large for a limit of its key never has room. */
export const hasNoRoomYet = (error: unknown): error is BudgetExceeded | KeyLimitReached =>
  error instanceof BudgetExceeded || (error instanceof KeyLimitReached && error.resetsAt !== null);

/** Returns when the work looks for room again, or null if it would have waited longer than a day by then. */
export function nextLook(
  error: BudgetExceeded | KeyLimitReached,
  { since, now }: { readonly since: Date; readonly now: Date },
): RetryAfter | null {
  const pauseMs = 1_000 * (error.advice.retryAfterSeconds ?? 1);
  const isTooLong = now.getTime() + pauseMs > since.getTime() + LONGEST_WAIT_MS;
  return isTooLong ? null : new RetryAfter(error, pauseMs, false);
}
