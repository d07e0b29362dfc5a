import { port } from '../../shared/port.js';

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
export interface LogTail {
  /** Path of the file that is written now. */
  readonly file: string;
  /**
   * The newest `most` whole lines, oldest first, fewer where they exceed the limits. Takes memory for the answer and the
   * line that is being read, however much was logged. Without any log there are no lines.
   */
  read(query: LogTailQuery): Promise<string[]>;
}
export const LogTail = port<LogTail>('operations.LogTail');
