import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './refusal.js';

/** A caller who doesn't read the answer, or goes on sending a body that was refused, is cut off. */
const IDLE_MS = 10_000;

/** Bytes that are copied sooner than written in several pieces, and go out whether or not anybody reads them. */
const SMALL = 16 * 1_024;

/** One request and its answer. */
export class Exchange {
  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly id: string,
  ) {
    response.setHeader('X-Request-Id', id);
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  json(body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    this.send(200, 'application/json; charset=utf-8', [Buffer.from(JSON.stringify(body))], headers);
  }

  send(
    status: number,
    type: string,
    parts: readonly Uint8Array[],
    headers: Readonly<Record<string, string | number>> = {},
  ): void {
    const { response } = this;
    if (response.destroyed) return;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    response.writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': length });
    if (length < SMALL) {
      response.end(Buffer.concat(parts));
      return;
    }
    response.setTimeout(IDLE_MS, () => response.destroy());
    for (const part of parts) response.write(part);
    response.end();
  }

  refuse(refusal: Refusal): void {
    const { request } = this;
    this.send(
      refusal.status,
      'application/json; charset=utf-8',
      [Buffer.from(refusal.envelope(this.id))],
      refusal.headers,
    );
    if (request.complete) return;
    request.resume();
    const cut = setTimeout(() => request.complete || request.destroy(), IDLE_MS);
    request.once('close', () => clearTimeout(cut));
  }
}

/** What a caller is told of a failure that is our own. */
export const internalError = (): Refusal =>
  new Refusal('internal_error', 'Something went wrong on our side; the log has it under this request_id.');
