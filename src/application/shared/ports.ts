import type { QuotaName } from '../../domain/shared/storage-quota.js';
import type { Json, JsonObject } from '../../domain/workspace/json.js';
import type { IdKind } from './id-kind.js';

export abstract class Clock {
  /** Returns the current time as a fresh object. */
  abstract now(): Date;
  /** Resolves after this number of milliseconds. Rejects with the signal's reason as soon as the signal is aborted. */
  abstract pause(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The operator's settings that services use. */
export abstract class ServiceSettings {
  abstract readonly maxAccounts: number;
  /** `invite`: without an invite only the master key may register, and only the first account. */
  abstract readonly registration: 'open' | 'invite';
  /** If true, site login may open a verified account that has a password or belongs to the operator team. */
  abstract readonly linkSiteLogins: boolean;
  /** A dataset has at most this number of records, and keeps this number of its newest versions. */
  abstract readonly datasetRecords: number;
  abstract readonly datasetVersions: number;
  /** Limits the records of a dataset as JSON. */
  abstract readonly datasetBytes: number;
  /** Limits the time of a whole answer, with its time in the queue, and the age of a stored response. */
  abstract readonly inferenceTimeoutMs: number;
  abstract readonly responseKeptMs: number;
  /** Limits an uploaded model file. */
  abstract readonly modelUploadBytes: number;
  /** The currency of all prices, such as `USD`. */
  abstract readonly currency: string;
  /** Limits what accounts, teams and the service store. */
  abstract readonly quotas: Readonly<Record<QuotaName, number>>;
}

/** The request that the running code belongs to. Outside a request, `id` is null. */
export abstract class RequestContext {
  abstract readonly id: string | null;
  /** Runs `work` as part of the request with this id, also after each await. */
  abstract within<T>(id: string, work: () => T): T;
}

export abstract class IdGenerator {
  /** Returns `<kind>_<UUIDv7>`, or `chatcmpl-<UUIDv7>` and `cmpl-<UUIDv7>`. Never returns an id twice. Later ids sort after earlier ids. */
  abstract next(kind: IdKind): string;
}

export abstract class Chance {
  /** Returns a random number from 0 to below 1. All numbers are equally likely. */
  abstract draw(): number;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Writes one line for each event. Every line has the fields of the running code, such as the id of its request. */
export abstract class Logger {
  /** `running` returns the fields of the running code. */
  constructor(private readonly running: () => LogFields = () => ({})) {}

  debug(event: string, fields?: LogFields): void {
    this.write('debug', event, { ...this.running(), ...fields });
  }

  info(event: string, fields?: LogFields): void {
    this.write('info', event, { ...this.running(), ...fields });
  }

  warn(event: string, fields?: LogFields): void {
    this.write('warn', event, { ...this.running(), ...fields });
  }

  error(event: string, fields?: LogFields): void {
    this.write('error', event, { ...this.running(), ...fields });
  }

  /**
   * Returns a logger for more lines about the same thing. They have these fields, and the fields that the running code
   * has now, even if other code writes them later. The fields of a line win.
   */
  child(fields: LogFields): Logger {
    return new ChildLogger(this, { ...this.running(), ...fields });
  }

  /** Resolves when all earlier lines can be read, or when they cannot be written. */
  abstract flush(): Promise<void>;

  protected abstract write(level: 'debug' | 'info' | 'warn' | 'error', event: string, fields: LogFields): void;
}

class ChildLogger extends Logger {
  constructor(
    private readonly parent: Logger,
    fields: LogFields,
  ) {
    super(() => fields);
  }

  flush(): Promise<void> {
    return this.parent.flush();
  }

  protected write(level: 'debug' | 'info' | 'warn' | 'error', event: string, fields: LogFields): void {
    this.parent[level](event, fields);
  }
}

/** The values of a span, by the names of OpenTelemetry's semantic conventions. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

/** The headers of a request or a task. They can name its place in a trace, for example in W3C's `traceparent`. */
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
  /** If false, nobody will see the span, and its attributes are not needed. */
  readonly isRecorded: boolean;
  /** Runs `work` as part of the span, also after each await. Spans that start there are its children. */
  run<T>(work: () => T): T;
  set(attributes: SpanAttributes, name?: string): void;
  /** Adds a child that has ended. Its times are milliseconds since the start of this span. */
  add(name: string, times: { readonly from: number; readonly to: number }, attributes?: SpanAttributes): void;
  /** Ends the span. The span has failed if there is a `failure`: an error, or the name of its type. */
  end(failure?: unknown): void;
}

/** Reports spans to a tracing system. */
export abstract class Tracer {
  /**
   * Starts a span. A span of the kind `server` or `consumer` continues the trace of its cause, or begins a trace. The
   * caller's headers do not decide whether a `server` span is recorded. A `consumer` span is recorded if its cause was
   * recorded. Other spans are children of the current span, and are recorded only if the current span is recorded.
   */
  abstract start(name: string, options?: SpanOptions): Span;
  /** Returns the headers that let another process continue the present trace. They are empty without a trace. */
  abstract headers(): Readonly<Record<string, string>>;

  /** Runs `work` in a new span. The span ends with `work`. */
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

/** `exclusive`: the lock has one holder. `shared`: the lock can have several shared holders at the same time. */
export type LockMode = 'exclusive' | 'shared';

export abstract class UnitOfWork {
  /**
   * Runs `work` in a serializable transaction. Rolls back if `work` throws. Runs `work` again after a conflict with
   * another transaction, so `work` must use only repositories. A nested call joins the transaction. On this instance,
   * units of work with the same `queueName` run one after another and do not conflict. Throws StorageUnavailable if all
   * attempts together last too long.
   */
  abstract run<T>(work: () => Promise<T>, queueName?: string): Promise<T>;
  /**
   * Runs `work` in a transaction that holds the lock `name` across all instances. `work` sees everything that earlier
   * exclusive holders committed. The transaction can be retried, so `work` must use only repositories. Throws inside a
   * unit of work. The default mode is `exclusive`. On one instance, exclusive holders have the lock in the order of their
   * calls. Throws StorageUnavailable if the wait and the work together last too long.
   */
  abstract locked<T>(name: string, work: () => Promise<T>, mode?: LockMode): Promise<T>;
  /**
   * Runs `work` and then `check` in one transaction. Like `locked`, but only `check` holds the lock. It can take `work`
   * back by throwing. On this instance, calls with the same `queueName` run one after another.
   */
  abstract checked<T>(
    name: string,
    steps: { readonly work: () => Promise<T>; readonly check: () => Promise<void>; readonly queueName: string },
  ): Promise<T>;
}

/** Reports changes of the desired state: of the started runtimes and of the stored deployments. */
export abstract class DesiredStateChanges {
  /**
   * Calls `changed` after any instance has committed a change. Also calls `changed` whenever it begins to listen, at
   * the start and after an outage of the database, because it may have missed changes. Must be called only once.
   */
  abstract listen(changed: () => void): void;
  abstract stop(): Promise<void>;
}

export interface TaskOptions {
  /** Prevents a second task with this key while the first waits or runs. At most 512 characters. */
  readonly key?: string;
  /** Tasks with the same queue name run one after another, also on different instances. */
  readonly queueName?: string;
  /** Limits the attempts. Default: 10. */
  readonly maxAttempts?: number;
}

export interface Attempt {
  /** Counts from 1. */
  readonly number: number;
  /**
   * Aborts when the instance shuts down, and after an hour. If `run` then throws, the task runs again as soon as a
   * worker is free, and this attempt does not count. Also aborts when another instance has taken over the task.
   */
  readonly signal: AbortSignal;
}

/** Runs the tasks of one name. */
export interface TaskWorker {
  /** Limits the concurrent tasks of this instance. Tasks that an outage of the database interrupted do not count. */
  readonly atOnce: number;
  /**
   * Runs an attempt. A repeated run must have no further effect. An error is logged, and the task is retried after a
   * pause: RetryAfter names the pause, other errors lead to pauses that grow from three seconds to six hours. An attempt
   * that ends with a RetryAfter that does not count is not logged.
   */
  run(payload: Json, attempt: Attempt): Promise<void>;
  /** Handles a task whose last attempt failed, or whose instance died then. The queue calls it until it succeeds. */
  gaveUp(payload: Json, reason: string): Promise<void>;
}

/**
 * Runs tasks in the background, on any instance. A task is never lost. Two instances run a task at the same time only
 * if one was considered dead. A failed task is retried with back-off. A task runs again if its end was not stored.
 */
export abstract class WorkQueue {
  /** Adds a task in the transaction of the surrounding unit of work. */
  abstract enqueue(task: string, payload: Json, options?: TaskOptions): Promise<void>;
  /** Sets the worker for a task. Must be called before `start`. */
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
 * Validates texts against JSON schemas of draft 2020-12, or of draft 7 or 6 if `$schema` says so. Limits time and
 * memory for every schema and text. A slow validation does not block other work, and hardly delays ordinary
 * validations. Owners, such as accounts, have turns for slow validations. Does not check `format`.
 */
export abstract class JsonSchemas {
  /** Returns why a schema cannot be used, or null if it can be used. */
  abstract problem(schema: JsonObject, owner: string): Promise<string | null>;
  /**
   * Tells whether a text is JSON that matches the schema. Returns false for an unusable schema, and null if the check
   * took too long.
   */
  abstract accepts(schema: JsonObject, text: string, owner: string): Promise<boolean | null>;
}

/** Selects at most `limit` items of a list, after the item with the id `after`, or from the beginning if it is null. */
export interface Page {
  readonly limit: number;
  readonly after: string | null;
}

/** An item of a list without its content. */
export interface SizedItem {
  /** The id that `Page.after` uses for the item. */
  readonly id: string;
  /** The length of the content. */
  readonly bytes: number;
}

/** Selects at most `limit` items, newest first, with numbers below `before`, or the newest if `before` is null. */
export interface VersionPage {
  readonly limit: number;
  readonly before: number | null;
}

/** A stream of bytes. They are never all in memory at the same time. */
export interface ByteStream {
  /** The bytes of the whole stream, or null if unknown. */
  readonly length: number | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}
