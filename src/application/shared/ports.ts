import type { Json, JsonObject } from '../../domain/workspace/json.js';

export abstract class Clock {
  /** Returns the current time as a fresh object. */
  abstract now(): Date;
  /** Resolves after so many milliseconds. Rejects with the signal's reason as soon as the signal is aborted. */
  abstract pause(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The operator's settings that services obey. */
export abstract class ServiceSettings {
  abstract readonly maxAccounts: number;
  /** `invite`: without an invite only the master key may register, and only the first account. */
  abstract readonly registration: 'open' | 'invite';
  /** Site login may open a verified account that has a password or belongs to the operator team. */
  abstract readonly linkSiteLogins: boolean;
  /** A dataset keeps so many of its newest versions. */
  abstract readonly datasetVersions: number;
  /** Limits the time of a whole answer, queueing included. */
  abstract readonly inferenceTimeoutMs: number;
  /** Limits an uploaded model file. */
  abstract readonly modelUploadBytes: number;
}

export interface CurrentRequest {
  readonly id: string;
  /** Reserves memory as `RequestContext.reserve` promises. */
  readonly reserve: (...lengths: number[]) => Promise<void>;
}

/** The request that the running code belongs to. */
export abstract class RequestContext {
  /** Is null outside a request. */
  abstract readonly id: string | null;
  /** Runs `work` as part of the request, also after each await. */
  abstract within<T>(request: CurrentRequest, work: () => T): T;
  /**
   * Reserves memory for JSON texts of these lengths, in bytes, until the request ends. Waits for it if they are large.
   * Throws a refusal if it waits too long. Gives back what the request reserved before: a request that waited while it
   * held memory could wait for itself. Does nothing outside a request.
   */
  abstract reserve(...lengths: number[]): Promise<void>;
}

/** The prefixes of identifiers, one for each kind. */
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
  /** Returns `<kind>_<UUIDv7>`, or `chatcmpl-<UUIDv7>`. Never returns one twice. Later ones sort behind earlier ones. */
  abstract next(kind: IdKind): string;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Writes one line for each event. */
export abstract class Logger {
  abstract debug(event: string, fields?: LogFields): void;
  abstract info(event: string, fields?: LogFields): void;
  abstract warn(event: string, fields?: LogFields): void;
  abstract error(event: string, fields?: LogFields): void;
  /** Runs `work`. Every line logged by it, also after an await, carries `fields`. */
  abstract within<T>(fields: LogFields, work: () => T): T;
  /** Binds `work` to the current fields. Its lines carry them, whoever calls it. */
  abstract bound<A extends unknown[], T>(work: (...given: A) => T): (...given: A) => T;
  /** Resolves when all earlier lines can be read, or when they cannot be written. */
  abstract flush(): Promise<void>;
}

/** The values of a span, by the names of OpenTelemetry's semantic conventions. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

/** The headers of a request or a task, which may name its place in a trace, as W3C's `traceparent` does. */
export type TraceHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface SpanOptions {
  /** Default: `internal`. */
  readonly kind?: 'server' | 'consumer' | 'client' | 'internal';
  readonly attributes?: SpanAttributes;
  /** The headers of the request or the task that the span is about. */
  readonly cause?: TraceHeaders;
}

/** A part of a trace, with a beginning and an end. */
export interface Span {
  /** False: nobody will see the span, so its attributes need not be found out. */
  readonly isRecorded: boolean;
  /** Runs `work` as part of the span, also after each await. Spans that start there are its children. */
  run<T>(work: () => T): T;
  set(attributes: SpanAttributes, name?: string): void;
  /** Adds a child that is over. Both times are milliseconds since the start of this span. */
  add(name: string, times: { readonly from: number; readonly to: number }, attributes?: SpanAttributes): void;
  /** Ends the span. It has failed if there is a failure: an error, or the text that names its type. */
  end(failure?: unknown): void;
}

/** Tells a tracing system what the service spends its time on. */
export abstract class Tracer {
  /**
   * Starts a span. A span of the kind `server` or `consumer` continues the trace of its cause, or begins one. A caller does
   * not choose whether a `server` span is recorded; a `consumer` span is recorded if its cause was. Other spans are
   * children of the span that the running code is part of, and are recorded only if that one is.
   */
  abstract start(name: string, options?: SpanOptions): Span;
  /** Returns the headers with which others continue the present trace. Is empty without one. */
  abstract headers(): Readonly<Record<string, string>>;

  /** Runs `work` as a span, which ends with it. */
  async trace<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
    const span = this.start(name, options);
    try {
      const outcome = await span.run(() => work(span));
      span.end();
      return outcome;
    } catch (error) {
      span.end(error);
      throw error;
    }
  }
}

export type TokenKind = 'session' | 'api_key' | 'verification' | 'reset' | 'invite';

export interface SecretToken {
  /** Given to its owner once. */
  readonly token: string;
  /** Stored in place of the token. */
  readonly digest: string;
  /** The end of the token, by which its owner recognizes it. */
  readonly hint: string;
}

/** Opaque secrets with a readable prefix and a checksum (`tns_` session, `tnk_` API key,
 * `tnv_` verification, `tnr_` reset, `tni_` invite). */
export abstract class SecretTokens {
  /** Returns a token with at least 256 random bits. */
  abstract issue(kind: TokenKind): SecretToken;
  /** Returns kind and digest of a well-formed token, or null for any other text. Looks nothing up. */
  abstract read(token: string): { readonly kind: TokenKind; readonly digest: string } | null;
}

/** `exclusive`: alone. `shared`: beside other shared holders of the same lock. */
export type LockMode = 'exclusive' | 'shared';

export abstract class UnitOfWork {
  /**
   * Runs `work` in a serializable transaction, which is rolled back if `work` throws. Retries `work` if it lost against
   * another transaction, so `work` touches repositories only. A nested call joins the transaction.
   */
  abstract run<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs `work` in a transaction that holds the lock `name` across all instances. `work` sees everything that earlier
   * exclusive holders committed. The transaction may be retried, so `work` touches repositories only. Throws inside a
   * unit of work. Default: `exclusive`.
   */
  abstract locked<T>(name: string, work: () => Promise<T>, mode?: LockMode): Promise<T>;
}

/** Tells of changes of the desired state: runtimes that should run, and deployments. */
export abstract class DesiredStateChanges {
  /**
   * Calls `changed` when any instance has committed a change. Calls it as well once it listens, also after an outage of
   * the database, because changes may have been missed before. To be called once.
   */
  abstract listen(changed: () => void): void;
  /** Calls `changed` no more. */
  abstract stop(): Promise<void>;
}

export interface TaskOptions {
  /** Prevents a second task with this key while one waits or runs. At most 512 characters. */
  readonly key?: string;
  /** Tasks with the same name of a queue run one after another, on whichever instance. */
  readonly queueName?: string;
  /** Limits the attempts. Default: 10. */
  readonly maxAttempts?: number;
}

export interface Attempt {
  /** Counts from 1. */
  readonly number: number;
  /**
   * Aborted when the instance shuts down, and after an hour: if `run` throws then, the task runs again as soon as a worker
   * is free, and this attempt does not count. Also aborted when another instance has taken the task over.
   */
  readonly signal: AbortSignal;
}

/** Runs the tasks of one name. */
export interface TaskWorker {
  /** Limits the concurrent tasks of this instance. Tasks that an outage of the database interrupted do not count. */
  readonly atOnce: number;
  /** Limits the pause before a retry. Default: pauses grow from three seconds to six hours. */
  readonly longestPauseMs?: number;
  /** Must be idempotent. An error is logged, and the task is retried later. */
  run(payload: Json, attempt: Attempt): Promise<void>;
  /** Called after the last attempt failed or its instance died. Retried until it succeeds. */
  gaveUp(payload: Json, reason: string): Promise<void>;
}

/**
 * Runs tasks in the background, on any instance. A task is never lost. Two instances never run it at once, unless one was
 * taken for dead. A failed task is retried with back-off. A task runs once more if its end could not be stored.
 */
export abstract class WorkQueue {
  /** Adds a task in the transaction of the surrounding unit of work. */
  abstract enqueue(task: string, payload: Json, options?: TaskOptions): Promise<void>;
  /** Sets the worker for a task. To be called before `start`. */
  abstract register(task: string, worker: TaskWorker): void;
  /** Starts the workers. They survive outages of the database. */
  abstract start(): Promise<void>;
  /** Returns the instances that have started workers and not stopped them. */
  abstract instances(): Promise<number[]>;
  /** Unlocks the tasks of a dead instance, so that others run them. Their attempts count. */
  abstract release(instance: number): Promise<void>;
  /** Starts no more tasks and aborts the running ones. Resolves when they have ended, or after `graceMs`. */
  abstract stop(graceMs: number): Promise<void>;
}

/**
 * Compares texts with JSON schemas of draft 2020-12, or of draft 7 or 6 if `$schema` says so. Bounded in time and memory
 * whatever the schema and the text are. Holds up no other work, and ordinary questions not noticeably. Does not check
 * `format`.
 */
export abstract class JsonSchemas {
  /** Returns why a schema cannot be used; null if it can. */
  abstract problem(schema: JsonObject): Promise<string | null>;
  /** Tells whether a text is JSON that validates. False also if this takes too long, or the schema cannot be used. */
  abstract accepts(schema: JsonObject, text: string): Promise<boolean>;
}

/** Selects at most `limit` items of a list, after the one with the id `after`. With null the list begins. */
export interface Page {
  readonly limit: number;
  readonly after: string | null;
}

/** An item of a list without its content. */
export interface SizedItem {
  /** The item's place in the list, as `Page.after` names it. */
  readonly id: string;
  /** The length of the content. */
  readonly bytes: number;
}

/** Selects at most `limit` numbered items of a list, newest first, with numbers below `before`. With null the list begins. */
export interface VersionPage {
  readonly limit: number;
  readonly before: number | null;
}

/** Bytes that are never held in memory as a whole. */
export interface ByteStream {
  /** Is null if unknown. */
  readonly length: number | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}
