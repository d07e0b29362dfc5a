import { injectable } from 'inversify';
import { Logger } from '../../application/shared/ports.js';
import { NotFound, StorageUnavailable } from '../../domain/shared/errors.js';
import { steadyMs } from '../system/scheduling.js';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
const UNIQUE_VIOLATION = '23505';
const UNDEFINED_TABLE = '42P01';

/**
 * Returns whether the transaction lost against another one, so that a retry can succeed. Includes unique violations,
 * because units of work check before they insert. An insert collides only with rows that were not visible at the time
 * of the check.
 */
export const isLostRace = (error: unknown): boolean =>
  [SERIALIZATION_FAILURE, DEADLOCK, UNIQUE_VIOLATION].includes(sqlState(error));

/** Returns whether the database has undone the transaction for the sake of others. */
export const wasRolledBack = (error: unknown): boolean => [SERIALIZATION_FAILURE, DEADLOCK].includes(sqlState(error));

/** Returns whether a referenced row is gone. */
export const isForeignKeyViolation = (error: unknown): boolean => sqlState(error) === '23503';

/** Returns whether the database refuses the rows of a statement: text with a NUL character, two equal rows, too many words. */
export const refusesRows = (error: unknown): boolean => /^(2[12]|54)/.test(sqlState(error));

/** Runs `write`. Throws NotFound with the name `what` if a row that it refers to is gone. */
export async function notFoundIfMissing<T>(what: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw isForeignKeyViolation(error) ? new NotFound(what) : error;
  }
}

/** Returns whether a statement has waited for a lock longer than `lock_timeout`. */
export const isLockTimeout = (error: unknown): boolean => sqlState(error) === '55P03';

/** Class 42 has unknown tables, columns and functions. The others are a new column without a value, and a changed type. */
const CHANGED_TABLES = /^(42...|23502|0A000)$/;

/** Returns whether the error may come from tables that are not those of this version. */
export const mayBeOfChangedTables = (error: unknown): boolean => CHANGED_TABLES.test(sqlState(error));

export const isMissingTable = (error: unknown): boolean => sqlState(error) === UNDEFINED_TABLE;

const OUTAGE_CODES =
  /^(08...|57P0[1-5]|53[34]00|25P03|57014|E(CONN\w+|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND))$/;

/** pg's message for an answer that did not come within `query_timeout`. */
const ANSWER_OVERDUE = 'Query read timeout';

export const isAnswerOverdue = (error: unknown): boolean => error instanceof Error && error.message === ANSWER_OVERDUE;

const OUTAGE_TEXTS = [
  ANSWER_OVERDUE,
  'timeout exceeded when trying to connect', // by the pool
  'timeout expired', // by pg, for a new connection
  'Connection terminated',
  'Client has encountered a connection error',
  'not queryable',
  'already released', // by the ORM, in two messages, when its connection broke between two statements
];

/**
 * Translates a failure of the database for callers: a reference to a removed row becomes NotFound, an outage becomes
 * StorageUnavailable. Returns any other error unchanged.
 */
export const asRefusal = (error: unknown): unknown =>
  isForeignKeyViolation(error) ? new NotFound() : asStorageUnavailable(error);

/** The faults that an operator must mend, by the error code of PostgreSQL. */
const SHORTAGES: Readonly<Record<string, string>> = {
  '53100': 'the disk of the database is full',
  '53200': 'the database has no memory left',
};

/** Translates an outage of the database into StorageUnavailable. Returns any other error unchanged. */
export function asStorageUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const shortage = SHORTAGES[sqlState(error)];
  if (shortage) return new StorageUnavailable(shortage);
  const noSocket = sqlState(error) === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect';
  const outage =
    noSocket || OUTAGE_CODES.test(sqlState(error)) || OUTAGE_TEXTS.some((text) => error.message.includes(text));
  return outage ? new StorageUnavailable() : error;
}

/** Returns the error code of PostgreSQL or of the socket. The ORM may have wrapped it. */
function sqlState(error: unknown): string {
  const { code, driverError } = (error ?? {}) as { code?: unknown; driverError?: { code?: unknown } };
  return String(driverError?.code ?? code ?? '');
}

const REMINDER_MS = 60_000;

/**
 * Logs failures of periodic work. During an outage of the database, all periodic work fails. So the log has one line
 * when an outage begins, one line each minute, and one line when it ends.
 */
@injectable()
export class OutageLog {
  private outage: { readonly since: number; loggedAt: number } | null = null;

  constructor(private readonly log: Logger) {}

  failed(what: string, error: unknown, fields: Readonly<Record<string, unknown>> = {}): void {
    if (asStorageUnavailable(error) === error) {
      this.log.error(what, { ...fields, error });
      return;
    }
    const now = steadyMs();
    if (!this.outage) {
      this.outage = { since: now, loggedAt: now };
      this.log.error(SHORTAGES[sqlState(error)] ?? 'the database is out of reach', { noticed_by: what, error });
    } else if (now - this.outage.loggedAt >= REMINDER_MS) {
      this.outage.loggedAt = now;
      this.log.warn('the database is still out of reach', { for_s: this.seconds(now) });
    }
  }

  /** Reports that work on the database succeeded. */
  done(): void {
    if (!this.outage) return;
    this.log.info('the database is back', { after_s: this.seconds(steadyMs()) });
    this.outage = null;
  }

  private seconds(now: number): number {
    return Math.round((now - (this.outage?.since ?? now)) / 100) / 10;
  }
}
