/** Thrown by a task of the work queue that shall run again after `pauseMs`, instead of the usual pause. */
export class RetryAfter extends Error {
  constructor(
    cause: unknown,
    readonly pauseMs: number,
    /** False: the attempt does not count, because it had to wait for something. */
    readonly counts = true,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Returns the usual pause after a failed attempt: from three seconds to six hours, but at most `longestMs`. */
export const backOffMs = (attempt: number, longestMs: number): number =>
  Math.min(Math.exp(Math.min(attempt, 10)) * 1_000, longestMs);
