export const WINDOW_MS = 60_000;
/** Calls within this time are counted together. They leave the window when the last of them leaves. */
const GRAIN_MS = 500;

/**
 * Counts calls within the last minute. A call counts for 60 seconds, and up to half a second longer if other calls
 * followed in the same half second. Times are milliseconds that never go back.
 * While calls are added, it keeps only those of the last 60.5 seconds, also if nobody asks for the counts.
 */
export class SlidingWindow {
  /** Holds pairs, oldest first: the time of the last call in half a second, and the number of calls in it. */
  private pairs: number[] = [];
  private total = 0;

  used(now: number): number {
    let left = 0;
    while (left < this.pairs.length && (this.pairs[left] as number) <= now - WINDOW_MS) {
      this.total -= this.pairs[left + 1] as number;
      left += 2;
    }
    if (left > 0) this.pairs.splice(0, left);
    return this.total;
  }

  add(now: number): void {
    this.used(now); // otherwise a window that nobody asks grows without end
    const { pairs } = this;
    const last = pairs.length - 2;
    this.total++;
    if (last >= 0 && grain(pairs[last] as number) === grain(now)) {
      pairs[last] = now;
      pairs[last + 1] = (pairs[last + 1] as number) + 1;
    } else if (last < 0) {
      this.pairs = [now, 1]; // `push` would reserve memory for many numbers, but most callers have called once
    } else pairs.push(now, 1);
  }

  /** Returns the time until the oldest calls leave the window; 0 for an empty window. */
  msUntilMoreRoom(now: number): number {
    return this.used(now) === 0 ? 0 : (this.pairs[0] as number) + WINDOW_MS - now;
  }

  /** Removes all calls, and returns their pairs. */
  drained(): readonly number[] {
    const { pairs } = this;
    [this.pairs, this.total] = [[], 0];
    return pairs;
  }

  /** Adds drained pairs again. They are older than the calls that were added meanwhile. */
  restore(pairs: readonly number[]): void {
    this.pairs = [...pairs, ...this.pairs];
    for (let at = 1; at < pairs.length; at += 2) this.total += pairs[at] as number;
  }

  get size(): number {
    return this.pairs.length;
  }
}

const grain = (time: number): number => Math.floor(time / GRAIN_MS);
