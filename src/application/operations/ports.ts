/** Sessions and API keys by their end, mailed tokens by theirs, mails by their delivery, site tokens by their end. */
export const leftoverKinds = ['credentials', 'mailed_tokens', 'mails', 'site_tokens'] as const;
export type LeftoverKind = (typeof leftoverKinds)[number];

/** What has had its time and is of no more use to anybody. */
export abstract class ExpiredData {
  /**
   * Removes at most `most` of those whose time was over at `before`, and tells how many. What has no end, and a mail that
   * is not delivered, stays. However many do that at once, none waits for another.
   */
  abstract remove(kind: LeftoverKind, before: Date, most: number): Promise<number>;
}

export interface LogTailLimits {
  /** Of the lines of one answer together. */
  readonly answerBytes: number;
  /** How far back lines are looked for. */
  readonly searchedBytes: number;
}

export const logTailLimits: LogTailLimits = { answerBytes: 16 * 1024 * 1024, searchedBytes: 64 * 1024 * 1024 };

export interface LogTailQuery {
  /** At least 1. */
  readonly most: number;
  /** Only lines in which this stands and is not the beginning of a longer word. Nothing mentions the empty text. */
  readonly mentioning: string | null;
}

/** The end of the service's log, files that were rotated away included. */
export abstract class LogTail {
  /** Path of the file that is written now. */
  abstract readonly file: string;
  /**
   * The newest `most` whole lines, oldest first, fewer where they exceed the limits. Takes memory for the answer and the
   * line that is being read, however much was logged. Without any log there are no lines.
   */
  abstract read(query: LogTailQuery): Promise<string[]>;
}

/** What the service tells of itself in numbers, to a monitoring system that asks now and then. */
export abstract class Metrics {
  /**
   * All of it, as it is now, in the text format of Prometheus. Resolves within two seconds whatever is out of reach:
   * what cannot be found out is left out.
   */
  abstract read(): Promise<string>;
}

/** The database as an operator sees it. */
export abstract class StorageProbe {
  /** Resolves, within seconds, when the database answers and its migrations are done; throws StorageUnavailable if not. */
  abstract check(): Promise<void>;
}
