export const WINDOW_MS = 60_000;
/** Calls within as long are kept as one number, and leave the window together with the last of them. */
const GRAIN_MS = 500;

/**
 * How often somebody called within the last minute. A call stays for 60 seconds, or less than half a second longer
 * where others followed it at once. Times are milliseconds that never go back.
 */
export class SlidingWindow {
  /** Pairs, oldest first: the time of the last call of half a second, and how many calls that half second had. */
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
    const { pairs } = this;
    const last = pairs.length - 2;
    this.total++;
    if (last >= 0 && grain(pairs[last] as number) === grain(now)) {
      pairs[last] = now;
      pairs[last + 1] = (pairs[last + 1] as number) + 1;
    } else if (last < 0) {
      this.pairs = [now, 1]; // not pushed, which would make room for many: most callers have called once
    } else pairs.push(now, 1);
  }

  /** How long until there is room for more than now; 0 when the window is empty. */
  msUntilMoreRoom(now: number): number {
    return this.used(now) === 0 ? 0 : (this.pairs[0] as number) + WINDOW_MS - now;
  }

  /** How many numbers it keeps. */
  get size(): number {
    return this.pairs.length;
  }
}

const grain = (time: number): number => Math.floor(time / GRAIN_MS);
