import type { Finding } from '../../../domain/shared/errors.js';

const statuses = {
  malformed_json: 400,
  bad_request: 400,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  invalid_request: 422,
  model_busy: 429,
  headers_too_large: 431,
  internal_error: 500,
  shutting_down: 503,
  inference_timeout: 504,
} as const;

export type ErrorCode = keyof typeof statuses;

export class RequestError extends Error {
  readonly status: number;

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly details?: readonly Finding[],
  ) {
    super(message);
    this.status = statuses[code];
  }

  envelope(requestId: string): string {
    const { code, message, details } = this;
    return JSON.stringify({
      status: 'error',
      code,
      error: message,
      request_id: requestId,
      ...(details && { details }),
    });
  }
}

export const modelBusy = (message: string): RequestError =>
  new RequestError('model_busy', message, { 'Retry-After': '1' });

export function invalidRequest(details: readonly Finding[]): RequestError {
  const [first, ...others] = details;
  const more = others.length ? ` (and ${others.length} more)` : '';
  return new RequestError('invalid_request', `${first?.path}: ${first?.message}${more}`, {}, details);
}

export class InvalidField extends Error {
  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message);
  }
}

const MAX_PROBLEMS = 20;

/** Collects the first 20 problems of a request, so that the caller gets them in one answer. */
export class FieldErrors {
  private readonly found: Finding[] = [];

  add(path: string, message: string): void {
    if (this.found.length < MAX_PROBLEMS) this.found.push({ path, message });
  }

  /** Returns the result of `read`. If `read` throws an InvalidField, collects it and returns undefined. */
  collect<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error;
      this.add(error.path, error.message);
      return undefined;
    }
  }

  throwIfAny(): void {
    if (this.found.length > 0) throw invalidRequest(this.found);
  }
}

const MAX_QUOTED = 64;

export const shortened = (text: string): string => (text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);

export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'bigint') return 'a number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
