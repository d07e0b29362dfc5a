import { pipeline } from 'node:stream/promises';
import type { RequestHandler, Response } from 'express';
import { type Contract, Reply, type Route, StreamedResponse } from '../contract.js';

/** Calls the controller. */
export const handle =
  ({ handle }: Route): RequestHandler =>
  async (request, _response, next) => {
    request.context.result = await handle(request.context.call as never);
    next();
  };

/** Sends what the controller answered, in the shape that the contract declares. */
export const respond =
  (contract: Contract): RequestHandler =>
  async (request, response) => {
    const { result, answerMade } = request.context;
    request.context.result = undefined; // a slow reader must not keep it in memory beside its text
    if (result instanceof StreamedResponse) await stream(response, result);
    else send(response, contract, result instanceof Reply ? result : new Reply(contract.status, result), answerMade);
  };

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Prometheus knows its format by this type. */
const textTypes = { 'text/plain': 'text/plain; version=0.0.4; charset=utf-8' } as const;

function send(response: Response, contract: Contract, reply: Reply<unknown>, made: () => void): void {
  const { answer, versioned, answerMedia } = contract;
  const body = answer.parse(reply.body) as { version?: number };
  if (versioned) response.setHeader('ETag', `"${body.version}"`);
  response.set(reply.headers);
  const text = answerMedia ? String(body) : JSON.stringify(body);
  made();
  sendText(response, reply.status, answerMedia ? textTypes[answerMedia] : JSON_TYPE, text);
}

/** Sends a whole answer. Express's `send` would answer 304 where `If-None-Match` has the version's ETag. */
export function sendText(response: Response, status: number, type: string, text: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

async function stream(response: Response, { status, headers, chunks }: StreamedResponse): Promise<void> {
  response.status(status).set(headers);
  // The status is sent already: a connection that ends early is the only way left to tell the failure.
  await pipeline(chunks, response).catch(() => response.destroy());
}
