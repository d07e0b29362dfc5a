import type { Json } from '../../domain/workspace/json.js';

export abstract class Clock {
  /** The time of day. Every call gives a fresh value. */
  abstract now(): Date;
}

/** The request on whose behalf code runs. */
export abstract class RequestContext {
  /** Null where it runs on nobody's. */
  abstract readonly id: string | null;
  /** Runs `work`; all that it does, also after an await, is on behalf of the request. */
  abstract within<T>(id: string, work: () => T): T;
}

/** The kinds of identifiers and the prefix that each carries. */
export type IdKind =
  | 'usr'
  | 'tea'
  | 'ses'
  | 'key'
  | 'ver'
  | 'msg'
  | 'prj'
  | 'mdl'
  | 'dst'
  | 'cnv'
  | 'dep'
  | 'job'
  | 'rul'
  | 'alr'
  | 'whk'
  | 'inv'
  | 'aud'
  | 'req'
  | 'chatcmpl';

export abstract class IdGenerator {
  /** `<kind>_<UUIDv7>` (`chatcmpl-…` as its clients know it): never given twice, and in the order in which they were made when sorted as text. */
  abstract next(kind: IdKind): string;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** The service's log: one line per event. */
export abstract class Logger {
  abstract info(event: string, fields?: LogFields): void;
  abstract warn(event: string, fields?: LogFields): void;
  abstract error(event: string, fields?: LogFields): void;
  /** Runs `work`; every line logged during it, also after an await, carries `fields`. */
  abstract within<T>(fields: LogFields, work: () => T): T;
  /** `work` for others to call: every line logged during it carries the fields around here, and none around its caller. */
  abstract bound<A extends unknown[], T>(work: (...given: A) => T): (...given: A) => T;
  /** Resolves when whoever reads the log finds all that was logged before, or it cannot be written. */
  abstract flush(): Promise<void>;
}

/** `exclusive`: alone. `shared`: beside other shared holders of the same lock. */
export type LockMode = 'exclusive' | 'shared';

export abstract class Locks {
  /**
   * Runs `work` in a transaction that holds the lock `name` across all instances. `work` sees everything that earlier
   * exclusive holders committed. The transaction may be retried, so `work` touches repositories only. Throws inside a
   * unit of work.
   */
  abstract run<T>(name: string, work: () => Promise<T>, mode?: LockMode): Promise<T>;
}

export abstract class Delay {
  /** Resolves after so many milliseconds; rejects with the signal's reason as soon as it is aborted. */
  abstract take(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export type TokenKind = 'session' | 'api_key' | 'verification' | 'reset' | 'invite';

export interface SecretToken {
  /** What its owner gets, this once. */
  readonly token: string;
  /** What is kept: it finds the token again and gives nothing away. */
  readonly digest: string;
  /** Enough of it for its owner to tell it by, and too little to be of use. */
  readonly hint: string;
}

/** Opaque secrets with a readable prefix and a checksum (`tns_` session, `tnk_` API key,
 * `tnv_` verification, `tnr_` reset, `tni_` invite). */
export abstract class SecretTokens {
  /** At least 256 bits that nobody can guess. */
  abstract issue(kind: TokenKind): SecretToken;
  /** Kind and digest of a well-formed token; null for any other text, found out without looking anything up. */
  abstract read(token: string): { readonly kind: TokenKind; readonly digest: string } | null;
}

export abstract class UnitOfWork {
  /**
   * All that repositories do inside `work` commits together, or not at all when `work` throws.
   * Serializable: the outcome is as if units had run one after another. `work` runs again when it lost against another
   * unit, so it touches repositories only. A unit inside a unit joins it.
   */
  abstract run<T>(work: () => Promise<T>): Promise<T>;
}

export interface TaskOptions {
  /** While a task with this key waits or runs, no other one with it is added. At most 512 characters. */
  readonly key?: string;
  /** Not before this moment. Default: as soon as a worker is free. */
  readonly runAt?: Date;
  /** How often it may be begun before it is given up. Default: 10. */
  readonly maxAttempts?: number;
}

/** One attempt at a task. */
export interface Attempt {
  /** 1 for the first one. */
  readonly number: number;
  /**
   * Aborted when the attempt is to break off for now: this process ends, or it has taken an hour. When `run` throws
   * then, the task is begun again as soon as there is a worker, and this attempt does not count.
   */
  readonly signal: AbortSignal;
}

/** Whoever does the tasks of one name. */
export interface TaskWorker {
  /** How many of them run together, at most, in this process. */
  readonly atOnce: number;
  /** Throws where the task has to be tried again later; what it throws is logged. Has to bear being run again. */
  run(payload: Json, attempt: Attempt): Promise<void>;
  /** The last attempt has failed, or its process died; `reason` is the message of the error. Tried until it succeeds. */
  gaveUp(payload: Json, reason: string): Promise<void>;
}

/**
 * Work to be done later by whatever process of the service has a worker free. A task is never lost, it is never run by
 * two at once, and it is tried again after ever longer pauses where it fails. It may run once more where it was done and
 * that could not be stored.
 */
export abstract class WorkQueue {
  /** In a unit of work: it is there when the unit commits, and never where it doesn't. */
  abstract enqueue(task: string, payload: Json, options?: TaskOptions): Promise<void>;
  /** Who does the tasks of this name in this process. Before `start`. */
  abstract register(task: string, worker: TaskWorker): void;
  /** From now on workers look for tasks. An outage of the storage is waited out. */
  abstract start(): Promise<void>;
  /** The numbers of the processes by which tasks are being run. */
  abstract holders(): Promise<number[]>;
  /** What a process was running that has died may be begun by others; the attempts count. */
  abstract release(process: number): Promise<void>;
  /** Begins nothing new, has what runs break off, and resolves when it has, or after `graceMs`. */
  abstract stop(graceMs: number): Promise<void>;
}
