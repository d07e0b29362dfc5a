import { DomainError, type ErrorKind, type Finding } from '../../domain/shared/errors.js';
import { HttpRefusal } from './refusals.js';

const statusOf: Record<ErrorKind, number> = {
  invalid: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  too_large: 413,
  busy: 429,
  bad_gateway: 502,
  unavailable: 503,
  timeout: 504,
};

/** The error envelope, the same for every refusal of every route. */
export interface Envelope {
  readonly status: 'error';
  readonly code: string;
  readonly error: string;
  readonly request_id: string;
  readonly details?: readonly Finding[];
}

export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Envelope;
  /** True for a failure of the service itself, which the log must explain. */
  readonly unexpected: boolean;
}

/** Makes the answer to an error. It says nothing about an unexpected one but that it happened. */
export function problemOf(error: unknown, requestId: string): Problem {
  const envelope = (code: string, message: string) =>
    ({ status: 'error', code, error: message, request_id: requestId }) as const;
  if (error instanceof HttpRefusal) {
    const { status, headers, code, message } = error;
    return { status, headers, body: envelope(code, message), unexpected: false };
  }
  if (error instanceof DomainError) {
    const { details } = error.advice;
    const body = { ...envelope(error.code, error.message), ...(details && { details }) };
    return { status: statusOf[error.kind], headers: adviceHeaders(error), body, unexpected: false };
  }
  const body = envelope('internal_error', 'Something went wrong on our side; the log has it under this request_id.');
  return { status: 500, headers: {}, body, unexpected: true };
}

function adviceHeaders({ kind, advice }: DomainError): Record<string, string> {
  return {
    ...(kind === 'unauthenticated' && { 'WWW-Authenticate': 'Bearer' }),
    ...(advice.retryAfterSeconds !== undefined && { 'Retry-After': String(advice.retryAfterSeconds) }),
    ...(advice.retryable === false && { 'x-should-retry': 'false' }),
  };
}
