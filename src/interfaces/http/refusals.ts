import { DomainError, type ErrorKind, type Finding } from '../../domain/shared/errors.js';
import { vendorStatus } from './error-form.js';
import { formOf } from './error-forms.js';

/** Lists every machine code of the service with its HTTP status. Codes are never renamed or reused. */
export const refusals = {
  malformed_json: { status: 400, when: 'The body is not JSON.' },
  bad_request: { status: 400, when: 'The request is not proper HTTP.' },
  previous_response_not_found: {
    status: 400,
    when: 'The response that the request continues, or one before it, is not there.',
  },
  unknown_parameter: {
    status: 400,
    when: 'The request has a field that the endpoint does not know. `param` names it.',
  },
  unsupported_parameter: {
    status: 400,
    when: 'The connected model does not support a parameter of the request. `param` names it.',
  },
  thread_unsupported_request: {
    status: 400,
    when: 'The request names a thread of messages, which this service does not keep.',
  },
  unauthenticated: { status: 401, when: 'The credential is missing, unknown, expired or revoked.' },
  invalid_credentials: { status: 401, when: 'The e-mail or the password is wrong.' },
  session_required: { status: 401, when: 'This endpoint does not take this kind of credential.' },
  email_unverified: { status: 403, when: 'The e-mail must be verified first.' },
  forbidden: { status: 403, when: 'The role does not allow it.' },
  key_restricted: {
    status: 403,
    when: 'The API key is not for this project or route. The message says why.',
  },
  operator_only: { status: 403, when: 'This is for accounts of the operator team.' },
  registration_closed: { status: 403, when: 'The account cap is reached, or registration is by invite only.' },
  invite_email_mismatch: { status: 403, when: 'The invite is for another e-mail.' },
  site_login_disabled: { status: 403, when: 'Site login is not set up.' },
  wrong_password: { status: 403, when: 'The current password is wrong.' },
  not_found: { status: 404, when: "There is no such object or route, or it is another team's." },
  token_not_found: { status: 404, when: 'There is no such token.' },
  invite_not_found: { status: 404, when: 'There is no such invite.' },
  method_not_allowed: { status: 405, when: 'The path exists, but not with this method. `Allow` lists its methods.' },
  request_timeout: { status: 408, when: 'The request took too long to arrive.' },
  email_taken: { status: 409, when: 'An account with this e-mail exists, in the same or in other letter case.' },
  last_admin: { status: 409, when: 'The team would be left without an admin.' },
  stale_version: { status: 409, when: 'Another update came first. `details[0].current` is the version to read.' },
  dataset_frozen: { status: 409, when: 'A frozen dataset is immutable.' },
  model_registered: { status: 409, when: 'A registered model is immutable.' },
  job_finished: { status: 409, when: 'The job has finished and cannot change any more.' },
  request_id_conflict: { status: 409, when: 'The same `request_id` came with another `spec`, or with another fork.' },
  token_used: { status: 410, when: 'The token was used already.' },
  token_expired: { status: 410, when: 'The token has expired.' },
  invite_redeemed: { status: 410, when: 'The invite was redeemed.' },
  invite_revoked: { status: 410, when: 'The invite was revoked.' },
  invite_expired: { status: 410, when: 'The invite has expired.' },
  payload_too_large: { status: 413, when: 'The body is over the limit of this endpoint.' },
  unsupported_media_type: {
    status: 415,
    when: 'The body is not of a media type that the endpoint takes, or not in UTF-8.',
  },
  misdirected_request: { status: 421, when: 'The `Host` is not one of the names of this service.' },
  invalid_request: { status: 422, when: 'The input breaks a rule. `details` lists every one.' },
  quota_exceeded: {
    status: 422,
    when: 'What an account, a team or the service may store is used up. `details[0].current` is what is stored.',
  },
  model_file_invalid: {
    status: 422,
    when: 'The model file is missing, not within the models folders, or does not load. The message says why.',
  },
  endpoint_invalid: {
    status: 422,
    when: 'The endpoint does not answer, or its model is not ready in time. The message says why.',
  },
  dataset_invalid: { status: 422, when: 'The dataset does not validate. `details` lists the findings.' },
  context_length_exceeded: {
    status: 422,
    when: "The prompt, or prompt and `max_tokens`, is over the model's context.",
  },
  streaming_unsupported: { status: 422, when: '`stream` is true.' },
  model_mismatch: { status: 422, when: '`model` is not the project id of the path.' },
  rate_limited: {
    status: 429,
    when: 'There were too many requests within a minute, or a limit of the API key is reached. See `Retry-After`.',
  },
  budget_exceeded: {
    status: 429,
    when: 'A budget has no room for the call. `X-Budget-Id` names it. See `Retry-After`.',
  },
  model_busy: { status: 429, when: "The model's queue is full. See `Retry-After`." },
  headers_too_large: { status: 431, when: 'The request headers are too large.' },
  internal_error: { status: 500, when: 'An unexpected failure. The log has it under the `request_id`.' },
  runtime_invalid_response: { status: 502, when: 'The runtime gave an invalid or mismatched answer.' },
  busy: {
    status: 503,
    when: 'Too many logins and registrations, uploads, large bodies or large datasets at once. See `Retry-After`.',
  },
  runtime_not_connected: { status: 503, when: 'No model is connected to the project.' },
  runtime_loading: { status: 503, when: 'The model is loading. See `Retry-After`.' },
  runtime_stopped: { status: 503, when: 'The runtime is stopped.' },
  runtime_unavailable: { status: 503, when: 'The runtime is unavailable. The message says why.' },
  shutting_down: { status: 503, when: 'The service is ending.' },
  storage_unavailable: {
    status: 503,
    when: 'The database is out of reach, or the disk is full. See `Retry-After`.',
  },
  instance_outdated: {
    status: 503,
    when: 'The database is of a newer version than the answering instance. See `Retry-After`.',
  },
  inference_timeout: { status: 504, when: 'The inference timed out.' },
} as const;

export type RefusalCode = keyof typeof refusals;

/** Gives a code another status for one route. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly status: number;
}

export const refusalOf = (declared: RefusalCode | Refusal): Refusal =>
  typeof declared === 'string' ? { code: declared, status: refusals[declared].status } : declared;

/** Refuses a request for a reason that only HTTP knows, such as its media type. */
export class HttpRefusal extends Error {
  readonly status: number;

  constructor(
    readonly code: RefusalCode,
    message: string = refusals[code].when,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = refusals[code].status;
  }
}

export function methodNotAllowed(allowed: readonly string[]): HttpRefusal {
  const Allow = allowed.join(', ');
  return new HttpRefusal('method_not_allowed', `This path takes ${Allow}.`, { Allow });
}

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

/** The service's own form of refusals. */
interface Envelope {
  readonly status: 'error';
  readonly code: string;
  readonly error: string;
  readonly request_id: string;
  readonly details?: readonly Finding[];
}

export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  /** True for a failure of the service itself, which must be logged. */
  readonly unexpected: boolean;
}

/** Returns the answer to an error, in the form of the path. Hides the cause of an unexpected error from callers. */
export function problemOf(error: unknown, request: { readonly requestId: string; readonly path: string }): Problem {
  const problem = envelopeOf(error, request.requestId);
  const form = formOf(request.path);
  if (!form) return problem;
  const status = vendorStatus(problem.status);
  return { ...problem, status, body: form.body(status, problem.body) };
}

function envelopeOf(error: unknown, requestId: string): Problem & { readonly body: Envelope } {
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
    ...advice.headers,
  };
}
