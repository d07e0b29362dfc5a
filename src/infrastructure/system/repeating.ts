/** Runs `task` repeatedly, with a pause after each run, until stopped. */
export class Repeating {
  private timer: NodeJS.Timeout | null = null;
  private current: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();

  constructor(
    private readonly task: (stopping: AbortSignal) => Promise<void>,
    private readonly pauseMs: number | (() => number),
    private readonly failed: (error: unknown) => void,
  ) {}

  start(): void {
    if (this.stopping.signal.aborted) return;
    this.current = this.task(this.stopping.signal).catch(this.failed);
    void this.current.then(() => {
      if (this.stopping.signal.aborted) return;
      const pauseMs = typeof this.pauseMs === 'number' ? this.pauseMs : this.pauseMs();
      this.timer = setTimeout(() => this.start(), pauseMs);
    });
  }

  /** Resolves when the task has ended, or after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.stopping.abort();
    if (this.timer) clearTimeout(this.timer);
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([this.current, enough]);
    clearTimeout(timer);
  }
}
