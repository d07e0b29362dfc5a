interface Work {
  readonly done: Promise<void>;
  readonly ending: AbortController;
  waiting: number;
}

/** Runs the work of a key once for all callers that ask for it at the same time. */
export class SharedWork {
  private readonly running = new Map<string, Work>();

  /** Resolves when the work is done. Throws the reason of an aborted `signal`. Aborts the work if all signals abort. */
  async run(key: string, start: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const work = this.running.get(key) ?? this.begin(key, start);
    work.waiting++;
    let giveUp: () => void = () => undefined;
    const aborted = new Promise<never>((_, reject) => {
      giveUp = () => reject(signal.reason);
      signal.addEventListener('abort', giveUp, { once: true });
    });
    try {
      await Promise.race([work.done, aborted]);
    } finally {
      signal.removeEventListener('abort', giveUp);
      work.waiting--;
      if (work.waiting === 0) {
        this.forget(key, work);
        work.ending.abort();
      }
    }
  }

  private begin(key: string, start: (signal: AbortSignal) => Promise<void>): Work {
    const ending = new AbortController();
    const work = { ending, waiting: 0, done: start(ending.signal) };
    this.running.set(key, work);
    const forget = () => this.forget(key, work);
    work.done.then(forget, forget);
    return work;
  }

  private forget(key: string, work: Work): void {
    if (this.running.get(key) === work) this.running.delete(key);
  }
}
