import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import type { Logger } from '../../../application/shared/ports.js';
import { NotFound } from '../../../domain/shared/errors.js';
import { type Problem, problemOf } from '../refusals.js';
import { JSON_TYPE, sendText } from './respond.js';

export interface ErrorHandlerDependencies {
  readonly logger: Logger;
  /** Turns an adapter's failure into a refusal if callers may know of it. Returns any other error unchanged. */
  readonly translate: (error: unknown) => Promise<unknown>;
}

export const notFound: RequestHandler = (request) => {
  throw new NotFound(`route as ${request.method} ${request.context.path.slice(0, 200)}`);
};

/** Answers each error of a request with a refusal. */
export const errorHandler =
  (dependencies: ErrorHandlerDependencies): ErrorRequestHandler =>
  async (error, _request, response, _next) => {
    if (response.destroyed || response.writableEnded) return;
    // Express throws a URIError for a path that it cannot decode, such as /%ff.
    const known = error instanceof URIError ? new NotFound() : error;
    const problem = await reportedProblem(known, response, dependencies);
    if (response.headersSent) response.destroy();
    else sendProblem(response, problem);
  };

/** Returns the refusal for an error. Logs the error if it is a failure of the service. */
export async function reportedProblem(
  error: unknown,
  response: Response,
  dependencies: ErrorHandlerDependencies,
): Promise<Problem> {
  const { logger, translate } = dependencies;
  const problem = problemOf(await translate(error), response.req.context);
  if (problem.unexpected) logger.error('unexpected failure', { error });
  return problem;
}

/** Answers with a refusal at once, even while a handler still waits for the body. */
export function refuse(response: Response, error: unknown): void {
  if (!response.headersSent) sendProblem(response, problemOf(error, response.req.context));
}

function sendProblem(response: Response, { status, headers, body }: Problem): void {
  response.set(headers);
  try {
    sendText(response, status, JSON_TYPE, JSON.stringify(body));
  } catch (error) {
    // The details cannot be written as JSON: the answer becomes `internal_error`.
    const failure = problemOf(error, response.req.context);
    sendText(response, failure.status, JSON_TYPE, JSON.stringify(failure.body));
  }
}
