/** Runs `task` again and again, `pauseMs` after it has ended, until stopped. */
export class Repeating {
  private timer: NodeJS.Timeout | null = null;
  private current: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();

  constructor(
    private readonly task: (stopping: AbortSignal) => Promise<void>,
    private readonly pauseMs: number,
    private readonly failed: (error: unknown) => void,
  ) {}

  start(): void {
    if (this.stopping.signal.aborted) return;
    this.current = this.task(this.stopping.signal).catch(this.failed);
    void this.current.then(() => {
      if (!this.stopping.signal.aborted) this.timer = setTimeout(() => this.start(), this.pauseMs);
    });
  }

  /** Resolves once the task no longer runs, or after `graceMs`. */
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
