import { Client, type ClientConfig, Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { Span, SpanAttributes, Tracer } from '../../application/shared/ports.js';
import { isAnswerOverdue } from './storage-errors.js';

/** Limits the time that the server spends on one statement, including the wait for locks. */
const STATEMENT_TIMEOUT_MS = 3_000;
/** Limits the wait for an answer, because the server may be out of reach. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 200;
/** Limits the wait for a connection. Together with one statement it stays below the promised 5 s. */
const CONNECTION_TIMEOUT_MS = 1_500;
/**
 * Limits a unit of work, without its COMMIT. Together with the wait of the last attempt for a connection, it
 * stays below the promised 5 s.
 */
const UNIT_OF_WORK_MS = 3_300;
/** Limits the wait for the counts of the rate limits. Later an instance counts alone. */
const RATE_LIMIT_MS = 500;
/** Limits how long an unused connection stays in the pool, because it may have broken unnoticed. */
const IDLE_TIMEOUT_MS = 5_000;
/** Advisory locks need this isolation. With these timeouts, the server ends the connections of dead instances. */
const SESSION =
  '-c default_transaction_isolation=read\\ committed -c idle_session_timeout=60s ' +
  '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10';
/** A listening connection sends no statements, so it may be idle. */
const LISTENING_SESSION = '-c idle_session_timeout=0';

/** Adds settings to the `options` in the URL, because `options` in the URL would replace the `options` of the pool. */
export function withSession(url: string, session = SESSION): string {
  const changed = new URL(url);
  changed.searchParams.set('options', [changed.searchParams.get('options'), session].join(' ').trim());
  return changed.href;
}

/** A longer `query_timeout` in the URL lengthens the other limits as well. */
const lengthened = (ms: number, url: string): number =>
  Math.max(ms, Number(new URL(url).searchParams.get('query_timeout') ?? 0));

/** Returns the limit of the wait for a connection. */
export const connectionTimeoutMs = (url: string): number => lengthened(CONNECTION_TIMEOUT_MS, url);

/** Returns the limit of a unit of work: of its statements in all attempts, and of its waits before and between them. */
export const unitOfWorkMs = (url: string): number => lengthened(UNIT_OF_WORK_MS, url);

/** Returns the limit of the wait for the counts of the rate limits, because every call waits for them. */
export const rateLimitMs = (url: string): number => lengthened(RATE_LIMIT_MS, url);

/**
 * Ends a connection when an answer is overdue. pg would keep the connection. Its next statement, such as the ROLLBACK
 * of the same transaction, would also wait for the missing answer.
 */
class LimitedClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    // A connection may break while it is unused. Without a listener, the error would end the process. The next
    // statement fails in any case.
    this.on('error', () => undefined);
  }

  override query(...args: never[]): never {
    const answer: unknown = super.query(...(args as [never]));
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

/** Creates the pool of the work queue for the database of `source`. Its listening connections may be idle. */
export function createQueuePool({ options }: DataSource, max: number): Pool {
  const { url } = options as { readonly url: string };
  const connectionString = withSession(url, LISTENING_SESSION);
  const pool = new Pool({ ...limits(url), connectionString, application_name: 'tenon', max });
  pool.on('error', () => undefined); // the pool replaces a broken connection, and the next statement reports the error
  return pool;
}

const LONGEST_TEXT = 2_000;
const TABLE = /\b(?:FROM|INTO|UPDATE|JOIN)\s+(?:ONLY\s+)?"?([\w.]+)/i;

/** Returns a class of connections that make a span for each traced statement. The spans have no parameter values. */
export const tracedClient = (tracer: Tracer): typeof Client =>
  class extends LimitedClient {
    override query(...args: never[]): never {
      const text = textOf(args[0]);
      const span = tracer.start('SQL', { kind: 'client' });
      if (!span.isRecorded || text === null) return super.query(...args);
      const { host, port, database } = this;
      const place = { 'server.address': host, 'server.port': port, 'db.namespace': database };
      const [name, attributes] = descriptionOf(text);
      span.set({ ...attributes, ...place }, name);
      const callback: unknown = args.at(-1);
      if (typeof callback !== 'function') {
        const answer = super.query(...args) as Promise<unknown>;
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
      return super.query(...([...args.slice(0, -1), answered] as never[]));
    }
  };

/** Returns the SQL of a query, or null for a stream. */
function textOf(query: unknown): string | null {
  if (typeof query === 'string') return query;
  const { text, submit } = query as { readonly text?: unknown; readonly submit?: unknown };
  return typeof text === 'string' && submit === undefined ? text : null;
}

function descriptionOf(text: string): [name: string, SpanAttributes] {
  const operation = /\w+/.exec(text)?.[0].toUpperCase() ?? 'SQL';
  const table = TABLE.exec(text)?.[1];
  const attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    'db.collection.name': table,
    'db.query.text': text.trim().slice(0, LONGEST_TEXT),
  };
  return [table ? `${operation} ${table}` : operation, attributes];
}

function fail(span: Span, error: unknown): void {
  const { code } = error as { readonly code?: string };
  span.set({ 'db.response.status_code': code });
  span.end(error);
}
