import { WINDOW_MS } from './sliding-window.js';

/**
 * Keeps something for each caller of the last minute, and for at most so many callers: beyond that, those go first
 * whose last call is the longest ago. In two generations, so that every call costs the same however many there are.
 */
export class RecentCallers<T> {
  private recent = new Map<string, T>();
  private earlier = new Map<string, T>();
  private begun = 0;
  private readonly mostRecent: number;

  constructor(
    most: number,
    private readonly begin: () => T,
  ) {
    this.mostRecent = Math.ceil(most / 2);
  }

  /** What is kept for the caller, made at the first call. */
  of(key: string, now: number): T {
    // Whoever did not call in a whole generation has nothing left in the window.
    if (now - this.begun >= WINDOW_MS) this.turn(now);
    const known = this.recent.get(key);
    if (known !== undefined) return known;
    const kept = this.earlier.get(key) ?? this.begin();
    if (this.recent.size >= this.mostRecent) this.turn(now);
    this.recent.set(key, kept);
    return kept;
  }

  get size(): number {
    return this.recent.size + this.earlier.size;
  }

  private turn(now: number): void {
    this.earlier = this.recent;
    this.recent = new Map();
    this.begun = now;
  }
}
