/** Groups refusals. `src/interfaces/http/refusals.ts` maps each kind to its HTTP status. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'gone'
  | 'too_large'
  | 'busy'
  | 'bad_gateway'
  | 'unavailable'
  | 'timeout';

/** One thing that is wrong, at `path` (dot-separated) in what was sent. */
export interface Finding {
  readonly path: string;
  readonly message: string;
  readonly code?: string;
  readonly current?: number;
}

export interface Advice {
  readonly details?: readonly Finding[];
  /** Whole seconds after which a new attempt makes sense. */
  readonly retryAfterSeconds?: number;
  /** False where a new attempt cannot help. */
  readonly retryable?: false;
}

/** A refusal that the caller can act on: `kind` says what sort, `code` which one, the message what to do. */
export abstract class DomainError extends Error {
  constructor(
    readonly kind: ErrorKind,
    readonly code: string,
    message: string,
    readonly advice: Advice = {},
  ) {
    super(message);
    this.name = new.target.name;
  }
}

/** The input breaks a rule; every broken rule is listed. */
export class InvalidRequest extends DomainError {
  constructor(findings: readonly Finding[]) {
    const [first] = findings;
    const more = findings.length > 1 ? ` (and ${findings.length - 1} more)` : '';
    const text = first ? `${first.path ? `${first.path}: ` : ''}${first.message}${more}` : 'The request is not valid.';
    super('invalid', 'invalid_request', text, { details: findings });
  }
}

/** There is no such object, or it belongs to another team: the two look the same. */
export class NotFound extends DomainError {
  constructor(what = 'object') {
    super('not_found', 'not_found', `There is no such ${what}.`);
  }
}

/** Another update came first, or the caller sent a version that never was. */
export class StaleVersion extends DomainError {
  constructor(current: number) {
    const message = `The current version is ${current}: read it and try again.`;
    super('conflict', 'stale_version', message, { details: [{ path: 'version', message, current }] });
  }
}

/** The database is out of reach; the service stays up and recovers with it. */
export class StorageUnavailable extends DomainError {
  constructor(why = 'the database is out of reach') {
    super('unavailable', 'storage_unavailable', `Not now: ${why}. Try again shortly.`, { retryAfterSeconds: 2 });
  }
}
