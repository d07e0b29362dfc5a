export const expirableKinds = ['credentials', 'mailed_tokens', 'mails', 'site_tokens'] as const;
export type ExpirableKind = (typeof expirableKinds)[number];

/** Removes rows that nobody needs any more. */
export abstract class ExpiredData {
  /**
   * Removes at most `most` rows of the kind whose end came before `before`, and returns their number. Mails end with
   * their delivery, the others at their expiry. Rows without an end stay. Concurrent calls do not wait for each other.
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

export interface LogTailQuery {
  /** At least 1. */
  readonly most: number;
  /** Keeps only lines that contain this as a whole word. An empty text matches no line. */
  readonly mentioning: string | null;
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

/** Probes the database. */
export abstract class StorageProbe {
  /** Resolves within seconds when the database answers and its migrations are done. Throws StorageUnavailable. */
  abstract check(): Promise<void>;
}
