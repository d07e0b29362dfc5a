import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError, oneLine } from './failure.js';
import type { Guarded } from './guardian.js';

const FIRST_ATTEMPTS = 5;
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** A server that has run for so long starts over with the shortest pause. */
const SETTLED_MS = 30_000;

export interface Startable {
  /** Launches a server; called again after each end. */
  launch(): Promise<Guarded>;
  ready(server: Guarded): Promise<void>;
  log(line: string): void;
}

/** Keeps the server running until it is stopped. */
export class Supervisor {
  private server: Guarded | undefined;
  private readonly stopped = new AbortController();
  private keeping: Promise<void> = Promise.resolve();

  constructor(private readonly startable: Startable) {}

  /** Resolves when the server is ready. A few attempts, since a killed server's memory is in use a moment longer. */
  async start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.boot();
        break;
      } catch (error) {
        if (error instanceof EmbeddedPostgresError || attempt === FIRST_ATTEMPTS) throw error;
        await sleep(SHORTEST_PAUSE_MS * attempt);
      }
    }
    this.keeping = this.keep();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.server?.stop();
    await this.keeping;
  }

  private async boot(): Promise<void> {
    const server = await this.startable.launch();
    this.server = server;
    try {
      if (this.stopped.signal.aborted) throw new Error('stopped');
      await this.startable.ready(server);
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  private async keep(): Promise<void> {
    let pause = SHORTEST_PAUSE_MS;
    let reason = (await this.server?.ended) ?? '';
    while (!this.stopped.signal.aborted) {
      this.startable.log(`PostgreSQL is down and starts again in ${pause} ms. ${reason}`);
      await sleep(pause, undefined, { signal: this.stopped.signal }).catch(() => {});
      if (this.stopped.signal.aborted) return;
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      const settled = setTimeout(() => {
        pause = SHORTEST_PAUSE_MS;
      }, SETTLED_MS);
      reason = await this.boot().then(
        () => this.server?.ended ?? '',
        (error: Error) => oneLine(error.message),
      );
      clearTimeout(settled);
    }
  }
}
