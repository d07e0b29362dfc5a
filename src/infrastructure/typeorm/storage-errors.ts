import { NotFound, StorageUnavailable } from '../../domain/shared/errors.js';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK = '40P01';
const UNIQUE_VIOLATION = '23505';
const UNDEFINED_TABLE = '42P01';

/**
 * Tells whether the transaction lost against another, so that a retry can succeed. Includes unique violations: units of
 * work look before they insert, so they collide only with rows that were not visible yet.
 */
export const isLostRace = (error: unknown): boolean =>
  [SERIALIZATION_FAILURE, DEADLOCK, UNIQUE_VIOLATION].includes(sqlState(error));

/** Tells whether a referenced row is gone. */
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
 * Translates a failure of the database for callers: a reference to a removed row becomes NotFound, an outage becomes
 * StorageUnavailable. Returns any other error unchanged.
 */
export const asRefusal = (error: unknown): unknown =>
  isForeignKeyViolation(error) ? new NotFound() : asStorageUnavailable(error);

/** Translates an outage of the database into StorageUnavailable. Returns any other error unchanged. */
export function asStorageUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
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
