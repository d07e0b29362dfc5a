const REMEMBERED = 8;

/** How long a refused caller should wait, by the time that the latest answers took. */
export class WaitingTime {
  private readonly durations: number[] = [];

  record(milliseconds: number): void {
    this.durations.push(milliseconds);
    if (this.durations.length > REMEMBERED) this.durations.shift();
  }

  /** Until as many answers are given one after another; whole seconds, 1 to 60. */
  seconds(answers: number): number {
    const mean = this.durations.reduce((sum, one) => sum + one, 0) / Math.max(1, this.durations.length);
    return Math.min(60, Math.max(1, Math.ceil((mean * answers) / 1_000)));
  }
}
