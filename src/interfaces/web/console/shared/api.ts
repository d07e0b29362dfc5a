import { signal } from '@preact/signals';
import createClient from 'openapi-fetch';
import { takeEarly } from './early-call.js';
import type { components, paths } from './openapi-types.js';
import { type Outage, RetryQueue } from './retry-queue.js';
import { token } from './session.js';

export type Schemas = components['schemas'];

/** One problem of a request. `path` names the field. Its parts are joined by dots. */
export interface Finding {
  readonly path: string;
  readonly message: string;
  readonly code?: string;
  readonly current?: number;
}

/** An error of the service. If the service does not answer, the status is 0 and the code is `unreachable`. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null = null,
    readonly details: readonly Finding[] = [],
    /** Seconds to wait before the next attempt, or null if unknown. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }

  /** Returns the current version of the changed object if the call named a stale version, otherwise null. */
  get currentVersion(): number | null {
    return this.details.find(({ current }) => current !== undefined)?.current ?? null;
  }
}

/** Asks the user to sign in again, and resolves when there is a new session. The sign-in dialog sets this function. */
let signInAgain: () => Promise<void> = () => new Promise(() => {});
export const onSessionEnd = (handler: () => Promise<void>): void => {
  signInAgain = handler;
};

/** Sends a call with the session, if there is one. If it has ended, waits for the next sign-in and sends the call again. */
async function withSession(send: (authorization: string | null) => Promise<Response>): Promise<Response> {
  const sent = token.value;
  const response = await send(sent && `Bearer ${sent}`);
  if (response.status !== 401 || sent === null) return response;
  if (token.value === sent) await signInAgain();
  return withSession(send);
}

/** The address of the service. It follows from the page's address, because a proxy may serve all below a folder. */
export const baseUrl = new URL('.', location.href).href.replace(/\/$/, '');

/** The reason why no read is answered now, or null. */
export const outage = signal<Outage | null>(null);

const retries = new RetryQueue(
  (now) => {
    outage.value = now;
  },
  () => document.hidden,
);
export const tryNow = (): void => retries.tryNow();
addEventListener('online', tryNow);
document.addEventListener('visibilitychange', () => document.hidden || tryNow());

/** The times at which requests were sent, by their responses. They are milliseconds of `performance.now`. */
const sendTimes = new WeakMap<Response, number>();
export const sentAt = (response: Response): number => sendTimes.get(response) ?? performance.now();

async function timed(request: Request): Promise<Response> {
  const at = performance.now();
  const response = await (takeEarly(request) ?? fetch(request));
  sendTimes.set(response, at);
  return response;
}

/** Throws ApiError if the service is out of reach or asks to try again later. Returns all other responses. */
async function reached(call: Promise<Response>): Promise<Response> {
  const response = await call.catch(notReached);
  if (![429, 502, 503, 504].includes(response.status)) return response;
  throw refusal(response, await response.json().catch(() => null));
}

/**
 * The generated client. All calls of the console use it, except uploads. Wrap each call in `answer`. During an outage,
 * a read waits. A failed sign-in or sign-out does not wait for another sign-in.
 */
export const api = createClient<paths>({
  baseUrl,
  fetch: (request) => {
    const send = (authorization: string | null, limit?: AbortSignal) => {
      const copy = new Request(request.clone(), limit && { signal: AbortSignal.any([request.signal, limit]) });
      if (authorization) copy.headers.set('Authorization', authorization);
      return timed(copy);
    };
    if (request.url.endsWith('/v1/auth/login')) return send(null);
    if (request.url.endsWith('/v1/auth/logout')) return send(token.value && `Bearer ${token.value}`);
    if (request.method !== 'GET') return withSession(send);
    return withSession((authorization) => retries.send((limit) => reached(send(authorization, limit))));
  },
});

/** Returns the body of an answer. Throws ApiError if the service answers with an error or is out of reach. */
export async function answer<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call.catch(notReached);
  if (response.ok) return data as T;
  throw refusal(response, error);
}

function notReached(reason: unknown): never {
  const isExplained = reason instanceof ApiError || (reason instanceof DOMException && reason.name === 'AbortError');
  throw isExplained ? reason : unreachable();
}

const unreachable = (): ApiError => new ApiError(0, 'unreachable', 'The service could not be reached.');

interface Upload {
  /** Called repeatedly with the number of bytes sent so far. */
  readonly onProgress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/** Sends a file by PUT and reports the progress, which fetch cannot. Rejects with AbortError when `signal` aborts. */
export async function upload<T>(path: string, file: Blob, options: Upload): Promise<T> {
  const response = await withSession((authorization) => put(path, file, authorization, options));
  const body = await response.json().catch(() => null);
  if (response.ok) return body as T;
  throw refusal(response, body);
}

function put(path: string, file: Blob, authorization: string | null, { onProgress, signal }: Upload) {
  return new Promise<Response>((resolve, reject) => {
    const call = new XMLHttpRequest();
    call.open('PUT', baseUrl + path);
    call.setRequestHeader('Content-Type', 'application/octet-stream');
    if (authorization) call.setRequestHeader('Authorization', authorization);
    call.upload.onprogress = ({ loaded }) => onProgress(loaded);
    call.onload = () => {
      const names = ['X-Request-Id', 'Retry-After'].filter((name) => call.getResponseHeader(name) !== null);
      const headers = names.map((name) => [name, String(call.getResponseHeader(name))] as [string, string]);
      resolve(new Response(call.responseText, { status: call.status, headers }));
    };
    call.onerror = () => reject(unreachable());
    call.onabort = () => reject(new DOMException('The upload was cancelled.', 'AbortError'));
    signal.throwIfAborted();
    signal.addEventListener('abort', () => call.abort());
    call.send(file);
  });
}

/** Reads the error in a response. The endpoint for OpenAI's clients writes errors in another format. */
function refusal(response: Response, body: unknown): ApiError {
  const { code, error, details } = (body ?? {}) as Partial<Schemas['Error']>;
  const problem = (typeof error === 'object' ? (error as Partial<Schemas['OpenAiProblem']>) : null) ?? null;
  const namedField = problem?.param ? [{ path: problem.param, message: problem.message ?? '' }] : undefined;
  const wait = Number(response.headers.get('Retry-After'));
  return new ApiError(
    response.status,
    code ?? problem?.code ?? String(response.status),
    problem?.message ?? (typeof error === 'string' ? error : `The service answered ${response.status}.`),
    response.headers.get('X-Request-Id'),
    details ?? namedField,
    wait > 0 ? wait : null,
  );
}
