/** Calls `onHang` if runs are open and none of them has ended for `limitMs`. */
export class Watchdog {
  private open = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly limitMs: number,
    private readonly onHang: () => void,
  ) {}

  /** Counts a run as open until the returned function is called. */
  runStarted(): () => void {
    if (this.open++ === 0) this.restart();
    return () => {
      this.open--;
      this.restart();
    };
  }

  private restart(): void {
    clearTimeout(this.timer);
    if (this.open > 0) this.timer = setTimeout(this.onHang, this.limitMs);
  }
}
