const REMEMBERED = 8;

/** How long a refused caller should wait: about as long as the latest answers took, one of which makes a place free. */
export class WaitingTime {
  private readonly durations: number[] = [];

  record(milliseconds: number): void {
    this.durations.push(milliseconds);
    if (this.durations.length > REMEMBERED) this.durations.shift();
  }

  /** Whole seconds, 1 to 60. */
  get seconds(): number {
    const mean = this.durations.reduce((sum, one) => sum + one, 0) / Math.max(1, this.durations.length);
    return Math.min(60, Math.max(1, Math.ceil(mean / 1_000)));
  }
}
