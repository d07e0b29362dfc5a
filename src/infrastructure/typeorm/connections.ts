import { Client, type ClientConfig, Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { Span, SpanAttributes, Tracer } from '../../application/shared/ports.js';
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
class LimitedClient extends Client {
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

const LONGEST_TEXT = 2_000;
const TABLE = /\b(?:FROM|INTO|UPDATE|JOIN)\s+(?:ONLY\s+)?"?([\w.]+)/i;

/** Returns a class of connections that make a span of each statement of a trace. Values of parameters are left out. */
export const tracedClient = (tracer: Tracer): typeof Client =>
  class extends LimitedClient {
    override query(...given: never[]): never {
      const text = textOf(given[0]);
      const span = tracer.start('SQL', { kind: 'client' });
      if (!span.isRecorded || text === null) return super.query(...given);
      const { host, port, database } = this;
      const place = { 'server.address': host, 'server.port': port, 'db.namespace': database };
      const [name, about] = descriptionOf(text);
      span.set({ ...about, ...place }, name);
      const callback: unknown = given.at(-1);
      if (typeof callback !== 'function') {
        const answer = super.query(...given) as Promise<unknown>;
        answer.then(
          () => span.end(),
          (error: unknown) => fail(span, error),
        );
        return answer as never;
      }
      const answered = (error: unknown, result: unknown) => {
        if (error) fail(span, error);
        else span.end();
        callback(error, result);
      };
      return super.query(...([...given.slice(0, -1), answered] as never[]));
    }
  };

/** Returns the SQL of a query; null if it is a stream. */
function textOf(query: unknown): string | null {
  if (typeof query === 'string') return query;
  const { text, submit } = query as { readonly text?: unknown; readonly submit?: unknown };
  return typeof text === 'string' && submit === undefined ? text : null;
}

function descriptionOf(text: string): [name: string, SpanAttributes] {
  const operation = /\w+/.exec(text)?.[0].toUpperCase() ?? 'SQL';
  const table = TABLE.exec(text)?.[1];
  const about = {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    'db.collection.name': table,
    'db.query.text': text.trim().slice(0, LONGEST_TEXT),
  };
  return [table ? `${operation} ${table}` : operation, about];
}

function fail(span: Span, error: unknown): void {
  const { code } = error as { readonly code?: string };
  span.set({ 'db.response.status_code': code });
  span.end(error);
}
