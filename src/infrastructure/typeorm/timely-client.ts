import type { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { steadyMs } from '../system/steady-clock.js';
import { Patience } from './patience.js';
import { TIMED_OUT } from './storage-errors.js';

type Answered = (error: Error | null, ...rest: unknown[]) => void;
type Given = [statement: unknown, ...rest: unknown[]];

/** A statement that was sent, and has no answer yet. */
export interface Asked {
  /** Its place among all that was ever sent and heard. */
  readonly moment: number;
  /** By the steady clock. */
  readonly at: number;
  /** How many bytes were sent before it. */
  readonly after: number;
}

/** The slowest way to a server on which a statement is not taken for lost while it is being sent. */
const BYTES_PER_MS = 256;

export interface TimelyConfig extends ClientConfig {
  /** How long the making of a connection may take; the pool's own limit has the wait for one in it. */
  readonly connectMs?: number;
  readonly connected?: (client: TimelyClient) => void;
  /** Settings of PostgreSQL that the connection begins with. */
  readonly session?: Readonly<Record<string, string>>;
}

/** Counts what is sent and heard, to tell what came first. */
let moment = 0;

/**
 * A connection that ends itself when an answer does not come within the time limit, or within what its caller has left
 * of patience. It may never come, and whoever had the connection next would wait for it as well.
 */
export class TimelyClient extends Client {
  /** When the latest answer came. */
  heard = moment++;
  /** What waits for an answer, in the order in which it was asked. */
  readonly pending = new Set<Asked>();
  /** Told that an answer did not come within the whole limit, and when it was asked for. */
  whenSilent: (since: number) => void = () => undefined;
  private readonly limitMs: number;

  constructor(config: TimelyConfig) {
    super({ ...config, connectionTimeoutMillis: config.connectMs ?? config.connectionTimeoutMillis });
    // It may break while it changes hands and nobody listens: who has it then hears of that by the next statement.
    this.on('error', () => undefined);
    this.once('connect', () => config.connected?.(this));
    const start = this as unknown as { getStartupConf(): object };
    const settings = start.getStartupConf.bind(this);
    start.getStartupConf = () => ({ ...settings(), ...config.session });
    const { query_timeout } = (this as unknown as { connectionParameters: { query_timeout?: unknown } })
      .connectionParameters;
    this.limitMs = Number(query_timeout) || 0;
    const query = this.query.bind(this) as (...given: unknown[]) => unknown;
    this.query = ((...given: Given) => this.watch(query, given)) as typeof this.query;
  }

  /** Whoever has it, the pool too, hears at once that it is of no more use; no answer of the other side is waited for. */
  drop(): void {
    this.emit('error', new Error('Connection terminated: it was silent'));
    this.socket.destroy();
  }

  /**
   * For how many milliseconds nothing has been said although the server must know of the statement by now: it says
   * nothing of one that is still on its way. Negative where it may be.
   */
  silentMs({ at, after }: Asked): number {
    return steadyMs() - at - (this.socket.bytesWritten - after) / BYTES_PER_MS;
  }

  /** How many bytes were ever heard. */
  get bytesHeard(): number {
    return this.socket.bytesRead;
  }

  private get socket(): Socket {
    return (this as unknown as { connection: { stream: Socket } }).connection.stream;
  }

  private watch(query: (...given: unknown[]) => unknown, [statement, ...rest]: Given): unknown {
    if (typeof (statement as { submit?: unknown }).submit === 'function') return query(statement, ...rest); // a stream
    const wait = Patience.wait(this.limitMs || Number.POSITIVE_INFINITY);
    const asked: Asked = { moment: moment++, at: steadyMs(), after: this.socket.bytesWritten };
    this.pending.add(asked);
    const over = (error: Error | null) => {
      wait.over();
      this.pending.delete(asked);
      if (error?.message !== TIMED_OUT) {
        this.heard = moment++;
        return;
      }
      const isSilent = wait.ms === this.limitMs && this.silentMs(asked) > 0;
      void this.end();
      if (isSilent) this.whenSilent(asked.moment);
    };
    const told = rest.at(-1);
    if (typeof told === 'function') {
      rest[rest.length - 1] = ((error, ...more) => {
        over(error);
        told(error, ...more);
      }) satisfies Answered;
    }
    const answer = query(
      wait.ms < (this.limitMs || Number.POSITIVE_INFINITY) ? within(statement, wait.ms) : statement,
      ...rest,
    );
    if (answer instanceof Promise) answer.then(() => over(null), over);
    return answer;
  }
}

const within = (statement: unknown, ms: number) => ({
  ...(typeof statement === 'string' ? { text: statement } : (statement as object)),
  query_timeout: Math.ceil(ms),
});
