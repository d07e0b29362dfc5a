import type { DomainError, ErrorKind } from '../../domain/shared/errors.js';

/** The time that a response in the background waits for a model that is busy, loading or unavailable, about. */
export const RESPONSE_WAIT_MS = 180_000;

/** The responses of an account that run at the same time in the background. */
export const AT_ONCE_PER_ACCOUNT = 4;

/** The attempts within this time. */
export const RESPONSE_ATTEMPTS = 17;

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** The kinds of errors that are retried. */
const transient: readonly ErrorKind[] = ['busy', 'unavailable'];

/**
 * Returns the time until the next attempt, or null if no further attempt is made. `attempt` counts from 1. No pause is
 * longer than 15 seconds, also if an engine advises a longer one. Counts as if the advice was the same each time.
 */
export function pauseAfter({ kind, advice }: DomainError, attempt: number): number | null {
  if (!transient.includes(kind) || advice.retryable === false || attempt >= RESPONSE_ATTEMPTS) return null;
  const advised = 1_000 * (advice.retryAfterSeconds ?? 0);
  if (advised > RESPONSE_WAIT_MS) return null;
  const pauseOf = (number: number) => Math.min(Math.max(advised, FIRST_PAUSE_MS * 2 ** number), LONGEST_PAUSE_MS);
  const earlier = Array.from({ length: attempt - 1 }, (_, number) => pauseOf(number));
  const waited = earlier.reduce((sum, one) => sum + one, 0);
  return waited < RESPONSE_WAIT_MS ? pauseOf(attempt - 1) : null;
}
