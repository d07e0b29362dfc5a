/** Tells once when the model has runs under way and none of them has ended for `mostMs`. */
export class StuckWatch {
  private underWay = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly mostMs: number,
    private readonly stuck: () => void,
  ) {}

  /** A run begins; its end is told by calling what this answers. */
  running(): () => void {
    if (this.underWay++ === 0) this.wait();
    return () => {
      this.underWay--;
      this.wait();
    };
  }

  private wait(): void {
    clearTimeout(this.timer);
    if (this.underWay > 0) this.timer = setTimeout(this.stuck, this.mostMs);
  }
}
