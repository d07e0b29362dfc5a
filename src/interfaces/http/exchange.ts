import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ParsedUrlQuery, parse } from 'node:querystring';
import type { Caller } from '../../domain/accounts/caller.js';
import type { Standing } from './rate-limit/rate-limiter.js';

const BEARER = /^Bearer +(\S+) *$/i;

/** A target is a path with its query, or a whole URL: of that nothing but the path and the query counts. */
const TARGET = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i;

/** A request with the answer that it gets, and what has been found out about it on the way. */
export class Exchange {
  readonly path: string;
  /** What stands behind the `?`. */
  readonly search: string;
  /** Who calls; null for a stranger, and where nobody is asked. */
  caller: Caller | null = null;
  /** How the caller stands towards the limits; nobody has any outside /v1. */
  standings: () => readonly Standing[] = () => [];
  /** The template of the path, once its route is found. */
  route: string | null = null;
  /** It came after the service had begun to end. */
  tooLate = false;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly requestId: string,
  ) {
    const [, path, search = ''] = TARGET.exec(request.url ?? '') ?? [];
    this.path = path || '/';
    this.search = search;
  }

  get method(): string {
    return this.request.method ?? '';
  }

  /** What it shows of who calls; null where that is nothing, or has another form. */
  get credential(): string | null {
    return BEARER.exec(this.header('authorization') ?? '')?.[1] ?? null;
  }

  get query(): ParsedUrlQuery {
    return parse(this.search);
  }

  /** By its name in small letters; of one that came several times, all in one. */
  header(name: string): string | undefined {
    return this.request.headers[name] as string | undefined;
  }

  set(headers: Readonly<Record<string, string | number | string[]>>): void {
    for (const name of Object.keys(headers)) this.response.setHeader(name, headers[name] as string);
  }

  /** The root and all that is below it. */
  isBelow(root: string): boolean {
    return this.path.startsWith(root) && (this.path.length === root.length || this.path[root.length] === '/');
  }
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Gives an answer, whole. */
export function answer(response: ServerResponse, status: number, type: string, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}
