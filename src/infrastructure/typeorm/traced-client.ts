import type { Client } from 'pg';
import type { Span, SpanAttributes, Tracer } from '../../application/shared/ports.js';
import { LimitedClient } from './connections.js';

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
