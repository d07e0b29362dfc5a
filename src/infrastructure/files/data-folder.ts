import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Creates the folder and its missing parents. Does not use the option `recursive` of Node.js: with it, the call never
 * returns for a folder below /proc, because the system reports existing folders there as missing.
 */
export function makeFolder(folder: string, mode?: number): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    if (!isFolder(folder)) throw error; // another process may have made it just now
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

export const secretFile = (dataFolder: string): string => join(dataFolder, 'secret');

/**
 * Returns the secret of the data folder, and creates it at the first call. Processes that start at the same time get
 * the same secret. Only the service's user can read the file.
 */
export function keptSecret(dataFolder: string): string {
  const path = secretFile(dataFolder);
  // The name is random. A pid is not unique, because containers that share the folder may have the same pids.
  const candidate = `${path}.${randomBytes(8).toString('hex')}`;
  writeFileSync(candidate, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(candidate, path); // atomic, and fails if the file exists
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(candidate);
  }
  return readFileSync(path, 'utf8').trim();
}
