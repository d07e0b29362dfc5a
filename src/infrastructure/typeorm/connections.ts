import { Client, type ClientConfig, Pool } from 'pg';
import type { DataSource } from 'typeorm';
import { isAnswerOverdue } from './storage-errors.js';

/** Limits what the server spends on one statement, waiting for a lock included. */
const STATEMENT_TIMEOUT_MS = 3_000;
/** Limits the wait for an answer of a server that may be out of reach. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 200;
/** Limits the wait for a connection. Together with one statement it stays below the promised 5 s. */
const CONNECTION_TIMEOUT_MS = 1_500;
/** Connections that broke unnoticed leave the pool after this. */
const IDLE_TIMEOUT_MS = 5_000;
/** Locks need this isolation. The timeouts let the server end connections of instances that are gone. */
const SESSION =
  '-c default_transaction_isolation=read\\ committed -c idle_session_timeout=60s ' +
  '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10';
/** A connection that listens sends no statements. */
const LISTENING_SESSION = '-c idle_session_timeout=0';

/** Adds the settings of the session. A parameter of the URL would replace those of the pool. */
export function withSession(url: string, session = SESSION): string {
  const changed = new URL(url);
  changed.searchParams.set('options', [changed.searchParams.get('options'), session].join(' ').trim());
  return changed.href;
}

/** A longer `query_timeout` in the URL lengthens the wait for a connection as well. */
export const connectionTimeoutMs = (url: string): number =>
  Math.max(CONNECTION_TIMEOUT_MS, Number(new URL(url).searchParams.get('query_timeout') ?? 0));

/**
 * Ends a connection on which an answer is overdue. pg would keep it, and the next statement, such as the ROLLBACK of the
 * same transaction, would wait for the missing answer as well.
 */
export class LimitedClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    // A connection may break while nobody listens: without this, that would end the process. The next statement fails.
    this.on('error', () => undefined);
  }

  override query(...given: never[]): never {
    const answer: unknown = super.query(...(given as [never]));
    if (answer instanceof Promise) answer.catch((error: unknown) => this.endIfOverdue(error));
    return answer as never;
  }

  private async endIfOverdue(error: unknown): Promise<void> {
    if (isAnswerOverdue(error)) await this.end().catch(() => undefined);
  }
}

/** Limits every wait of a statement, so that an outage is noticed within 5 s. */
export const limits = (url: string) => ({
  Client: LimitedClient,
  keepAlive: true,
  connectionTimeoutMillis: connectionTimeoutMs(url),
  idleTimeoutMillis: IDLE_TIMEOUT_MS,
  statement_timeout: STATEMENT_TIMEOUT_MS,
  query_timeout: QUERY_TIMEOUT_MS,
  idle_in_transaction_session_timeout: 30_000,
});

/** Connections for the work queue to the database of `source`. Listening ones may idle. */
export function createQueuePool({ options }: DataSource, max: number): Pool {
  const { url } = options as { readonly url: string };
  const connectionString = withSession(url, LISTENING_SESSION);
  const pool = new Pool({ ...limits(url), connectionString, application_name: 'tenon', max });
  pool.on('error', () => undefined); // the pool replaces a connection that breaks; the next statement reports it
  return pool;
}
