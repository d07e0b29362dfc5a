import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SystemClock } from '../system/adapters.js';

/** A process of another machine or container may use the same folder. It is not known here, but it is not that old. */
const LONGEST_USE_MS = 24 * 60 * 60 * 1000;

/**
 * Removes files and folders that killed processes have left in `folder`. The first group of `pattern` is the id of the
 * process. Entries of a running process stay for a day, and then go too: another process may have got the same id.
 */
export function removeLeftovers(folder: string, pattern: RegExp): void {
  for (const name of readdirSync(folder)) {
    const found = pattern.exec(name);
    const path = join(folder, name);
    if (found && (hasEnded(Number(found[1])) || isOld(path))) rmSync(path, { recursive: true, force: true });
  }
}

function hasEnded(pid: number): boolean {
  if (pid === process.pid) return true; // this process has left nothing yet
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function isOld(path: string): boolean {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
  return new SystemClock().now().getTime() - mtimeMs > LONGEST_USE_MS;
}
