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

export type RefusalCode = keyof typeof statuses;

/** Why a request gets no answer, as its caller is told. */
export class Refusal extends Error {
  readonly status: number;

  constructor(
    readonly code: RefusalCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly details?: readonly Finding[],
  ) {
    super(message);
    this.status = statuses[code];
  }

  /** The envelope that every refusal of the service has. */
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
