import { Client, type ClientConfig, type Pool, type PoolClient } from 'pg';
import { carrying } from '../system/carried.js';
import { steadyMs } from '../system/steady-clock.js';
import { Patience } from './patience.js';
import { NO_CONNECTION } from './storage-errors.js';
import type { Asked, TimelyClient } from './timely-client.js';

/** So often in the time until a connection is doubted all of them are looked at. */
const LOOKS = 4;

/** The server processes of the connections that are doubted, of which the server says that they have nothing to do. */
const AT_REST = `SELECT pid FROM pg_stat_activity WHERE pid = ANY ($1) AND state LIKE 'idle%'`;

/**
 * The connections of a pool, of which one may fall silent without anybody's saying so: what was between it and the
 * server has swallowed something, or forgotten it.
 */
export class Lines {
  private readonly all = new Set<TimelyClient>();
  /** Statements that the server did not know of when it was asked last, and how much was heard by then. */
  private unknown = new Map<Asked, number>();
  /** When the server was asked last about a statement. */
  private readonly lookedInto = new WeakMap<Asked, number>();
  private looking = false;

  constructor(private readonly doubtMs: number) {}

  readonly add = (client: TimelyClient): void => {
    client.whenSilent = (since) => this.drop((one) => one.heard <= since);
    this.all.add(client);
    client.once('end', () => this.all.delete(client));
  };

  /** From now on until the pool ends, whatever waits too long for an answer is looked into. */
  watch(pool: Pool): void {
    const { options } = pool as unknown as { options: ClientConfig };
    const looks = setInterval(() => this.look(options), this.doubtMs / LOOKS).unref();
    const end = pool.end.bind(pool) as (told?: () => void) => Promise<void>;
    pool.end = ((told?: () => void) => {
      clearInterval(looks);
      return end(told);
    }) as typeof pool.end;
  }

  private drop(silent: (client: TimelyClient) => boolean): void {
    for (const client of [...this.all]) {
      if (!silent(client)) continue;
      this.all.delete(client);
      client.drop();
    }
  }

  private look(options: ClientConfig): void {
    if (this.looking) return;
    const doubted = new Map<TimelyClient, Asked>();
    for (const client of this.all) {
      const [first] = client.pending;
      if (!first) continue;
      const silentMs = Math.min(client.silentMs(first), steadyMs() - (this.lookedInto.get(first) ?? 0));
      if (this.unknown.has(first) || silentMs > this.doubtMs) doubted.set(client, first);
    }
    if (doubted.size === 0) return;
    this.looking = true;
    void this.lookInto(doubted, options).finally(() => {
      this.looking = false;
    });
  }

  /**
   * Another connection tells whether the server is at work on what is waited for. Where it is not, twice in a row, what
   * was said got lost, on this side or on the other, unless the answer is still coming in; so has, as far as anybody
   * knows, what else was silent meanwhile.
   */
  private async lookInto(doubted: ReadonlyMap<TimelyClient, Asked>, options: ClientConfig): Promise<void> {
    const pids = [...doubted.keys()].map((client) => serverProcess(client));
    const atRest = await this.atRest(pids, options).catch(() => null);
    if (!atRest) return; // it is not to be had either: the time limit decides
    const unknown = new Map<Asked, number>();
    for (const [client, asked] of doubted) {
      this.lookedInto.set(asked, steadyMs());
      if (!client.pending.has(asked) || !atRest.has(serverProcess(client))) continue;
      if (this.unknown.get(asked) !== client.bytesHeard) unknown.set(asked, client.bytesHeard);
      else this.drop((one) => one === client || (one.pending.size === 0 && one.heard <= asked.moment));
    }
    this.unknown = unknown;
  }

  private async atRest(pids: readonly number[], options: ClientConfig): Promise<ReadonlySet<number>> {
    const limits = { connectionTimeoutMillis: this.doubtMs, query_timeout: this.doubtMs };
    const line = new Client({ ...options, ...limits });
    line.on('error', () => undefined);
    try {
      await line.connect();
      const { rows } = await line.query(AT_REST, [pids]);
      return new Set(rows.map(({ pid }) => pid as number));
    } finally {
      void line.end().catch(() => undefined);
    }
  }
}

const serverProcess = (client: TimelyClient) => (client as unknown as { processID: number }).processID;

type Connected = (error: Error | undefined, client?: PoolClient, release?: (error?: Error | boolean) => void) => void;

/** Waiting for a connection takes of its caller's patience, too, and what follows is still that caller's. */
export function boundConnecting(pool: Pool, connectionMs: number): void {
  const connect = pool.connect.bind(pool) as (told: Connected) => void;
  const within = (told: Connected): void => {
    const wait = Patience.wait(connectionMs);
    let waiting = true;
    const end: Connected = (...outcome) => {
      waiting = false;
      clearTimeout(timer);
      wait.over();
      told(...outcome);
    };
    const timer = setTimeout(() => end(new Error(NO_CONNECTION)), wait.ms);
    connect((error, client, release) => {
      if (waiting) end(error, client, release);
      else release?.();
    });
  };
  pool.connect = ((told?: Connected) => {
    if (told) return within(carrying(told));
    return new Promise((resolve, reject) => {
      within((error, client) => (error ? reject(error) : resolve(client as PoolClient)));
    });
  }) as typeof pool.connect;
}
