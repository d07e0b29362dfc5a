import { Client, type ClientConfig, type Pool } from 'pg';

type Answered = (error: Error | null, ...rest: unknown[]) => void;

/** Counts what is sent and heard, to tell what came first. */
let moment = 0;

/**
 * A connection that ends itself when an answer does not come within the time limit. It may never come, and whoever
 * had the connection next would wait for it as well.
 */
export class TimelyClient extends Client {
  /** When the latest answer came. */
  heard = moment++;
  /** Told that an answer did not come, and when it was asked for. */
  whenSilent: (since: number) => void = () => undefined;

  constructor(config: ClientConfig) {
    super(config);
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    this.query = ((...given: unknown[]) => {
      const asked = moment++;
      const told = given.at(-1);
      if (typeof told === 'function') {
        given[given.length - 1] = ((error, ...rest) => {
          this.note(asked, error);
          told(error, ...rest);
        }) satisfies Answered;
      }
      const answer = query(...given);
      if (answer instanceof Promise) {
        answer.then(
          () => this.note(asked, null),
          (error: Error) => this.note(asked, error),
        );
      }
      return answer;
    }) as typeof this.query;
  }

  private note(asked: number, error: Error | null): void {
    if (error?.message !== 'Query read timeout') {
      this.heard = moment++;
      return;
    }
    void this.end();
    this.whenSilent(asked);
  }
}

/**
 * Where one connection has fallen silent, so have the others of which nothing was heard since: nobody waits for them any
 * longer, and nobody gets one of them.
 */
export function dropSilent(pool: Pool): void {
  const all = new Set<TimelyClient>();
  const drop = (since: number) => {
    for (const client of all) {
      if (client.heard > since) continue;
      all.delete(client);
      // Broken, not ended: the pool or whoever uses it hears of that, and no answer of the other side is waited for.
      if (client.listenerCount('error') > 0) streamOf(client).destroy();
      else void client.end();
    }
  };
  pool.on('connect', (connected) => {
    const client = connected as unknown as TimelyClient;
    client.whenSilent = drop;
    all.add(client);
    client.once('end', () => all.delete(client));
  });
}

const streamOf = (client: TimelyClient) =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
