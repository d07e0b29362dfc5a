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

/** Describes one problem at a dot-separated path of the request. */
export interface Finding {
  readonly path: string;
  readonly message: string;
  readonly code?: string;
  readonly current?: number;
  /** The budget without room for the call, and its scope. */
  readonly budget_id?: string;
  readonly scope?: string;
}

export interface Advice {
  readonly details?: readonly Finding[];
  /** Whole seconds after which a retry makes sense. */
  readonly retryAfterSeconds?: number;
  /** False if a retry cannot help. */
  readonly retryable?: false;
  /** Further headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal. The kind decides the HTTP status, the code is for programs. The message tells a person what to do. */
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

/** Returns a class of refusals that all have the same message. */
export function refusal(kind: ErrorKind, code: string, message: string, advice: Advice = {}) {
  return class extends DomainError {
    constructor() {
      super(kind, code, message, advice);
    }
  };
}

/** The input is invalid. The details list every problem. */
export class InvalidRequest extends DomainError {
  constructor(findings: readonly Finding[]) {
    const [first] = findings;
    const more = findings.length > 1 ? ` (and ${findings.length - 1} more)` : '';
    const text = first ? `${first.path ? `${first.path}: ` : ''}${first.message}${more}` : 'The request is not valid.';
    super('invalid', 'invalid_request', text, { details: findings });
  }
}

/** The service, the team or the account has the maximum number of such objects. */
export class LimitReached extends InvalidRequest {
  constructor(most: number, things: string) {
    super([{ path: '', message: `There are ${most} ${things} already, the most there may be: delete one first.` }]);
  }
}

/** The object does not exist, or belongs to another team. */
export class NotFound extends DomainError {
  constructor(kind = 'object') {
    super('not_found', 'not_found', `There is no such ${kind}.`);
  }
}

/** Another update came first, or the version never existed. */
export class StaleVersion extends DomainError {
  constructor(current: number) {
    const message = `The current version is ${current}: read it and try again.`;
    super('conflict', 'stale_version', message, { details: [{ path: 'version', message, current }] });
  }
}

/** The database or another store does not answer. Calls succeed again as soon as the store answers. */
export class StorageUnavailable extends DomainError {
  constructor(reason = 'the database is out of reach') {
    super('unavailable', 'storage_unavailable', `Not now: ${reason}. Try again shortly.`, { retryAfterSeconds: 2 });
  }
}

/** A newer version of Tenon has changed the database so that this program cannot use it. `database` tells how. */
export class InstanceOutdated extends DomainError {
  constructor(database: string) {
    const message =
      `The database is of a newer version of Tenon than this program. ${database} ` +
      'Start the newer version, or restore a backup from before the update.';
    super('unavailable', 'instance_outdated', message, { retryAfterSeconds: 2 });
  }
}

/** This instance runs the maximum number of child processes. */
export class TooManyProcesses extends DomainError {
  constructor(most: number) {
    const message =
      `This instance runs ${most} child process${most === 1 ? '' : 'es'}, as many as are allowed (SERVICE_MAX_CHILDREN): ` +
      'stop a runtime or delete a deployment first.';
    super('unavailable', 'runtime_unavailable', message, { retryable: false });
  }
}
