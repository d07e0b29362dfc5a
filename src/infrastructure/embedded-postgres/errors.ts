export const REMEDY = 'set DATABASE_URL to use a PostgreSQL server of your own';

/** Tells in one line why the embedded PostgreSQL cannot be used, and what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Another process runs on the data folder. */
export class FolderTaken extends EmbeddedPostgresError {}

/** Joins lines by ` | `, so that a report of many lines is one entry of a log. */
export const oneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' | ');

/** Runs `work`; an unforeseen failure names the remedy, too. */
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
