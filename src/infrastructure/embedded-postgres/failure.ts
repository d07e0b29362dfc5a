export const REMEDY = 'set DATABASE_URL to use a PostgreSQL server of your own';

/** Why the embedded PostgreSQL is not to be had: one line that says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** A process that lives has the data folder. */
export class FolderTaken extends EmbeddedPostgresError {}

/** Lines become ` | `, so that a report of many lines is still one entry in a log. */
export const oneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' | ');

/** Runs `work`; a failure that nobody foresaw also names the remedy. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof EmbeddedPostgresError) throw cause;
    const reason = oneLine(cause instanceof Error ? cause.message : String(cause)).slice(-800);
    throw new EmbeddedPostgresError(`The embedded PostgreSQL does not start (${reason}); mend that or ${REMEDY}.`, {
      cause,
    });
  }
}
