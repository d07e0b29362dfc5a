import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const secretFile = (dataFolder: string): string => join(dataFolder, 'secret');

/**
 * The secret that is kept in the data folder: made at the first call, the same ever after, also for processes that
 * start at once, and readable by the service's user alone.
 */
export function keptSecret(dataFolder: string): string {
  const path = secretFile(dataFolder);
  // By chance, not by pid: processes in containers share the folder and have the same pids.
  const candidate = `${path}.${randomBytes(8).toString('hex')}`;
  writeFileSync(candidate, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(candidate, path); // fails where there is one: a link appears whole or not at all
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(candidate);
  }
  return readFileSync(path, 'utf8').trim();
}
