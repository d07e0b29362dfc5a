export const expirableKinds = ['alert_mails', 'credentials', 'mailed_tokens', 'site_tokens', 'usage_minutes'] as const;
export type ExpirableKind = (typeof expirableKinds)[number];

/** Removes rows that nobody needs any more. */
export abstract class ExpiredData {
  /**
   * Removes at most `most` rows of the kind whose end came before `before`, and returns their number. Alert mails end
   * when they are sent, minutes of usage at their start, the others at their expiry. Rows without an end stay.
   * Concurrent calls do not wait for each other.
   */
  abstract remove(kind: ExpirableKind, before: Date, most: number): Promise<number>;
}

export interface LogTailLimits {
  /** Bounds the bytes of all lines of one answer. */
  readonly answerBytes: number;
  /** Bounds the bytes that are searched, from the end. */
  readonly searchedBytes: number;
}

export const logTailLimits: LogTailLimits = { answerBytes: 16 * 1024 * 1024, searchedBytes: 64 * 1024 * 1024 };

/** From the gravest to the slightest. */
export const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogTailQuery {
  /** At least 1. */
  readonly most: number;
  /** Keeps only lines that contain each of these as a whole word. An empty text matches no line. */
  readonly mentioning: readonly string[];
  /** Keeps only lines of one of these levels. Null: of any. */
  readonly levels: readonly LogLevel[] | null;
}

/** Reads the end of the service's log, rotated files included. */
export abstract class LogTail {
  /** The path of the file that is written now. */
  abstract readonly file: string;
  /**
   * Returns the newest `most` whole lines, oldest first, and fewer where they exceed the limits. Takes memory for the
   * answer and one line, however long the log is. Returns no lines without a log.
   */
  abstract read(query: LogTailQuery): Promise<string[]>;
}

/** Reports the service's numbers to a monitoring system. */
export abstract class Metrics {
  /** Returns the present metrics in the text format of Prometheus within two seconds. Leaves out what it cannot find out. */
  abstract read(): Promise<string>;
}

export abstract class StorageProbe {
  /** Resolves within seconds when the database answers and its migrations are done. Throws StorageUnavailable. */
  abstract check(): Promise<void>;
}

/** The caller that a call is counted under. */
export interface RateLimitKey {
  /** Callers with a valid credential and source addresses are counted apart. */
  readonly kind: 'credential' | 'address';
  readonly value: string;
}

export interface RateLimit {
  readonly policy: 'default' | 'auth';
  /** Calls within 60 seconds. */
  readonly limit: number;
}

/** Tells what a caller has left of one limit. */
export interface Quota extends RateLimit {
  readonly remaining: number;
  /** Whole seconds until more remains than now: 1 to 60, or 0 when all of it remains. */
  readonly seconds: number;
}

export interface RateLimitVerdict {
  readonly admitted: boolean;
  /** One for each limit, in the order of the limits. */
  readonly quotas: readonly Quota[];
}

/** Counts calls in a sliding window of 60 seconds. Instances that share a store share its counts. */
export abstract class RateLimitStore {
  /**
   * Counts `calls` calls against every limit, or against none if one of them has no room left: then `admitted` is
   * false. With 0 calls it only tells the quotas.
   *
   * A refused call costs nothing, so the wait that a quota names is the true one.
   */
  abstract take(key: RateLimitKey, limits: readonly RateLimit[], calls: 0 | 1): Promise<RateLimitVerdict>;
}
