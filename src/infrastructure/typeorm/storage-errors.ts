import { StorageUnavailable } from '../../domain/operations/errors.js';
import { NotFound } from '../../domain/shared/errors.js';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
const UNIQUE_VIOLATION = '23505';
const UNDEFINED_TABLE = '42P01';

/**
 * True where another transaction came first and a new attempt sees what it did. A unique violation is such a case too:
 * the work looks before it inserts, so it collides only with what was not yet to be seen.
 */
export const isLostRace = (error: unknown): boolean =>
  [SERIALIZATION_FAILURE, DEADLOCK, UNIQUE_VIOLATION].includes(sqlState(error));

/** True where what a row points to is gone. */
export const isForeignKeyViolation = (error: unknown): boolean => sqlState(error) === '23503';

/** Runs `write`. Throws NotFound if a row that it refers to, `what`, is gone. */
export async function notFoundIfMissing<T>(what: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw isForeignKeyViolation(error) ? new NotFound(what) : error;
  }
}

export const isUniqueViolation = (error: unknown): boolean => sqlState(error) === UNIQUE_VIOLATION;

export const isMissingTable = (error: unknown): boolean => sqlState(error) === UNDEFINED_TABLE;

const OUTAGE_CODES =
  /^(08...|57P0[1-5]|53[34]00|25P03|57014|E(CONN\w+|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND))$/;

/** pg's message for an answer that did not come within `query_timeout`. */
const ANSWER_OVERDUE = 'Query read timeout';

export const isAnswerOverdue = (error: unknown): boolean => error instanceof Error && error.message === ANSWER_OVERDUE;

const OUTAGE_TEXTS = [
  ANSWER_OVERDUE,
  'timeout exceeded when trying to connect', // by the pool
  'timeout expired', // by pg, for a connection that is being made
  'Connection terminated',
  'Client has encountered a connection error',
  'not queryable',
  'Query runner already released', // by the ORM itself, when its connection broke between two statements
];

/**
 * What callers are told of a failure of the database: a row that points to what another call has removed meanwhile is
 * NotFound, a failure of the way to the database StorageUnavailable. Everything else stays what it is.
 */
export const asRefusal = (error: unknown): unknown =>
  isForeignKeyViolation(error) ? new NotFound() : asStorageUnavailable(error);

/** A failure of the way to the database becomes StorageUnavailable; everything else stays what it is. */
export function asStorageUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const noSocket = sqlState(error) === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect';
  const outage =
    noSocket || OUTAGE_CODES.test(sqlState(error)) || OUTAGE_TEXTS.some((text) => error.message.includes(text));
  return outage ? new StorageUnavailable() : error;
}

/** The code of PostgreSQL or of the socket, wherever the ORM has put it. */
function sqlState(error: unknown): string {
  const { code, driverError } = (error ?? {}) as { code?: unknown; driverError?: { code?: unknown } };
  return String(driverError?.code ?? code ?? '');
}
