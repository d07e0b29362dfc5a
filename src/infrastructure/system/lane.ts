export interface LaneLoad {
  readonly running: number;
  readonly waiting: number;
  readonly refused: number;
}

/** Runs at most `width` tasks at once and queues at most `queue` more. Throws `full` beyond that. */
export class Lane {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private refused = 0;

  constructor(
    private readonly width: number,
    private readonly queue: number,
    private readonly full: () => Error,
  ) {}

  get load(): LaneLoad {
    return { running: this.running, waiting: this.waiting.length, refused: this.refused };
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.running >= this.width) {
      if (this.waiting.length >= this.queue) {
        this.refused++;
        throw this.full();
      }
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else {
      this.running++;
    }
    try {
      return await task();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}
