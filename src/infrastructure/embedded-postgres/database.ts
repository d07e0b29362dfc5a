import { setTimeout as delay } from 'node:timers/promises';
import { Client, escapeIdentifier, escapeLiteral } from 'pg';
import { EmbeddedPostgresError, REMEDY } from './account.js';
import { ADMINISTRATOR, readPidFile } from './cluster.js';

/** A part of the socket's name; the server listens on no port. */
export const PORT = 5432;
const ROLE = 'tenon';
const POLL_MS = 10;
const SILENCE_MS = 30_000;
const WRONG_PASSWORD = '28P01';

export interface Place {
  readonly cluster: string;
  readonly sockets: string;
  readonly password: string;
  readonly database: string;
}

type Address = Pick<Place, 'sockets' | 'password' | 'database'>;

/** Returns the URL. It names port and sslmode, because PGPORT and PGSSLMODE in the environment would count otherwise. */
export function urlOf({ sockets, password, database }: Address, role: string = ROLE): string {
  const where = `host=${encodeURIComponent(sockets)}&sslmode=disable`;
  return `postgres://${role}:${password}@localhost:${PORT}/${encodeURIComponent(database)}?${where}`;
}

/** Tells whether a server takes connections at the address. */
export async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/**
 * Resolves when the database answers queries; creates it if need be. Rejects when the server is gone, or shows no progress
 * for half a minute. Recovery after a crash may take longer: then the server's status says so.
 */
export async function untilReady(place: Place, gone: Promise<string>): Promise<void> {
  let end: string | undefined;
  void gone.then((reason) => {
    end = reason;
  });
  let last: unknown = new Error('PostgreSQL does not become ready');
  for (let silent = 0; end === undefined && silent < SILENCE_MS; silent += POLL_MS) {
    const status = readPidFile(place.cluster)?.status;
    if (status === 'starting') silent = 0;
    try {
      // The file of a killed server says ready, too, but then there is no socket.
      if (status === 'ready') return await ensureDatabase(place);
    } catch (error) {
      if (error instanceof EmbeddedPostgresError) throw error;
      last = error;
    }
    await delay(POLL_MS);
  }
  throw end === undefined ? last : new Error(end);
}

/**
 * Creates the service's role and database. The role may create databases, but is no superuser: those read and write files
 * and start programs from SQL. Its statements report their errors to the service alone, not to the server's log.
 */
async function ensureDatabase(place: Place): Promise<void> {
  const url = urlOf({ ...place, database: 'postgres' }, ADMINISTRATOR);
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {}); // The query under way fails, too.
  try {
    await client.connect();
    const found = await client.query(
      `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1) AS role,
              EXISTS (SELECT FROM pg_database WHERE datname = $2) AS database`,
      [ROLE, place.database],
    );
    const { role, database } = found.rows[0] as { role: boolean; database: boolean };
    if (!role) {
      await client.query(
        `CREATE ROLE ${ROLE} LOGIN CREATEDB PASSWORD ${escapeLiteral(place.password)};
         ALTER ROLE ${ROLE} SET log_min_messages = log`,
      );
    }
    if (!database) await client.query(`CREATE DATABASE ${escapeIdentifier(place.database)} OWNER ${ROLE}`);
  } catch (error) {
    if ((error as { code?: string }).code !== WRONG_PASSWORD) throw error;
    throw new EmbeddedPostgresError(
      `The file "password" of the data folder does not fit its database: restore the folder as a whole or ${REMEDY}.`,
    );
  } finally {
    await client.end().catch(() => {});
  }
}
