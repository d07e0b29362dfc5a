/** All streams together read about this many bytes in one turn of the event loop. */
const PER_TURN = 8 * 1024;

/**
 * Limits how much of the streams of all engines is read in one turn of the event loop. Other callers' work runs between
 * the turns, however fast the engines send.
 */
class ReadingPace {
  private left = PER_TURN;
  private turnEnds = false;
  private waiting: (() => void)[] = [];

  /** Resolves when this turn has room. Pieces get their room in the order of the calls. The last one may be over it. */
  async take(bytes: number): Promise<void> {
    while (this.left <= 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.left -= bytes;
    if (this.turnEnds) return;
    this.turnEnds = true;
    setImmediate(() => this.nextTurn());
  }

  private nextTurn(): void {
    const { waiting } = this;
    this.left = PER_TURN;
    this.turnEnds = false;
    this.waiting = [];
    for (const go of waiting) go();
  }
}

/** A process has one event loop, so all its streams share one pace. */
export const readingPace = new ReadingPace();
