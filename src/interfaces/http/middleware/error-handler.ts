import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import type { Logger } from '../../../application/shared/ports.js';
import { NotFound } from '../../../domain/shared/errors.js';
import { type Problem, problemOf } from '../refusals.js';
import { JSON_TYPE, sendText } from './respond.js';

export interface ErrorHandlerDependencies {
  readonly logger: Logger;
  /** Turns an adapter's failure into a refusal if callers are told of it. Returns any other error as it is. */
  readonly translate: (error: unknown) => unknown;
}

export const notFound: RequestHandler = (request) => {
  throw new NotFound(`route as ${request.method} ${request.context.path.slice(0, 200)}`);
};

/** Answers every failure with the error envelope. */
export const errorHandler =
  ({ logger, translate }: ErrorHandlerDependencies): ErrorRequestHandler =>
  (error, _request, response, _next) => {
    // Express throws a URIError for a path that it cannot decode, such as /%ff.
    const known = error instanceof URIError ? new NotFound() : translate(error);
    const problem = problemOf(known, requestIdOf(response));
    if (response.destroyed || response.writableEnded) return;
    if (problem.unexpected) logger.error('unexpected failure', { error });
    if (response.headersSent) response.destroy();
    else sendProblem(response, problem);
  };

/** Answers with a refusal out of turn, while a handler may still wait for the body. */
export function refuse(response: Response, error: unknown): void {
  if (!response.headersSent) sendProblem(response, problemOf(error, requestIdOf(response)));
}

const requestIdOf = (response: Response) => String(response.getHeader('X-Request-Id'));

function sendProblem(response: Response, { status, headers, body }: Problem): void {
  response.set(headers);
  try {
    sendText(response, status, JSON_TYPE, JSON.stringify(body));
  } catch (error) {
    // Details that cannot be written as JSON are a failure of the service.
    const { status, body: own } = problemOf(error, body.request_id);
    sendText(response, status, JSON_TYPE, JSON.stringify(own));
  }
}
