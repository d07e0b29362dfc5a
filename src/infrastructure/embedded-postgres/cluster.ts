import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { type Account, writePrivately } from './account.js';
import { EmbeddedPostgresError, REMEDY } from './failure.js';
import { type Launcher, run } from './launcher.js';

/** The server's administrator; the service itself connects as the lesser `tenon`. */
export const ADMINISTRATOR = 'postgres';

export const clusterFolder = (folder: string): string => path.join(folder, 'data');
const passwordFile = (folder: string): string => path.join(folder, 'password');

export function readPassword(folder: string): string {
  try {
    return fs.readFileSync(passwordFile(folder), 'utf8').trim();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const why =
      code === 'ENOENT' ? `There is no ${passwordFile(folder)}` : `${passwordFile(folder)} is closed to this user`;
    const message = `${why}: start the service on that data folder first, run as its owner, or ${REMEDY}.`;
    throw new EmbeddedPostgresError(message, { cause });
  }
}

/**
 * Makes the database files unless they are there. They get their final name when complete, so an interrupted
 * attempt leaves nothing that could be taken for a database. The caller holds the lock on `folder`.
 */
export async function makeCluster(folder: string, account: Account, launcher: Launcher, initdb: string): Promise<void> {
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith('unfinished-')) fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  if (fs.existsSync(clusterFolder(folder))) return;
  writePrivately(account, passwordFile(folder), randomBytes(24).toString('base64url'));
  // A name of its own, since the initdb of an interrupted attempt may still be writing under the last one.
  const unfinished = path.join(folder, `unfinished-${randomBytes(4).toString('hex')}`);
  await run(launcher, [
    ...[initdb, '-D', unfinished, '-U', ADMINISTRATOR, `--pwfile=${passwordFile(folder)}`, '-A', 'scram-sha-256'],
    ...['-E', 'UTF8', '--locale=C', '--no-data-checksums', '--no-instructions'],
  ]);
  fs.renameSync(unfinished, clusterFolder(folder));
}

/** Refuses files of another major version, which the server could not read. */
export function checkVersion(folder: string, own: string): void {
  const file = path.join(clusterFolder(folder), 'PG_VERSION');
  const found = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : 'of an unknown version';
  if (found === own) return;
  throw new EmbeddedPostgresError(
    `${clusterFolder(folder)} was made by PostgreSQL ${found} and this is PostgreSQL ${own}: ` +
      `dump it with that version and load it into a new data folder, or ${REMEDY}.`,
  );
}
