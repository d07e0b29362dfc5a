import { pipeline } from 'node:stream/promises';
import type { RequestHandler, Response } from 'express';
import type { Reservation } from '../../../application/shared/memory-budget.js';
import { type Contract, Reply, type Route, StreamedResponse } from '../contract.js';
import type { Problem } from '../refusals.js';

/** Returns the refusal for an error. Logs the error if it is a failure of the service. */
export type ReportProblem = (error: unknown, response: Response) => Promise<Problem>;

/** Calls the controller. */
export const handle =
  ({ handle }: Route): RequestHandler =>
  async (request, _response, next) => {
    request.context.result = await handle(request.context.call as never);
    next();
  };

/** Sends the controller's answer in the form that the contract declares. */
export const respond =
  (contract: Contract, reportProblem: ReportProblem): RequestHandler =>
  async (request, response) => {
    const { result, call } = request.context;
    request.context.result = undefined; // a slow caller must not keep both the result and its text in memory
    if (result instanceof StreamedResponse) await stream(response, result, reportProblem);
    else send(response, contract, result instanceof Reply ? result : new Reply(contract.status, result), call?.memory);
  };

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Prometheus recognizes its text format by this type. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

function send(response: Response, contract: Contract, reply: Reply<unknown>, memory?: Reservation): void {
  const { answer, versioned, answerMedia } = contract;
  const body = answer.parse(reply.body) as { version?: number };
  if (versioned) response.setHeader('ETag', `"${body.version}"`);
  response.set(reply.headers);
  const text = answerMedia ? String(body) : JSON.stringify(body);
  memory?.lower(2 * Buffer.byteLength(text)); // the text, and its copy in the socket
  sendText(response, reply.status, answerMedia ? METRICS_TYPE : JSON_TYPE, text);
}

/** Sends a whole answer. Express's `send` would answer 304 if `If-None-Match` has the ETag of the version. */
export function sendText(response: Response, status: number, type: string, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** Limits the time that a caller has to read the end of a stream that failed. */
const LAST_CHUNK_MS = 30_000;

async function stream(response: Response, streamed: StreamedResponse, reportProblem: ReportProblem): Promise<void> {
  const { status, headers, chunks, options } = streamed;
  const { lastChunk, expired: signal } = options;
  if (ArrayBuffer.isView(chunks)) {
    response.status(status).set(headers).end(chunks);
    return;
  }
  const pieces = chunks;
  async function* all() {
    try {
      yield* pieces;
    } catch (error) {
      if (!lastChunk || response.destroyed) throw error;
      const late = setTimeout(() => response.destroy(), LAST_CHUNK_MS).unref();
      response.once('close', () => clearTimeout(late));
      yield lastChunk(await reportProblem(error, response));
    }
  }
  // If the caller is gone, `pipeline` would not start the source, and so never end it. This loop ends it at once.
  if (response.destroyed) for await (const _ of chunks) return;
  response.status(status).set(headers);
  // The status is already sent, so only a connection that ends early can report a failure.
  await pipeline(lastChunk ? all() : chunks, response, { ...(signal && { signal }) }).catch(() => response.destroy());
}
