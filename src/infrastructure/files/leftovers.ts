import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../system/adapters.js';

/** A process of another machine or container cannot be looked up here. After this time it is taken for ended. */
const LONGEST_USE_MS = 24 * 60 * 60 * 1000;

/** Process ids mean something only here: on this machine and, on Linux, in this container. */
const PLACE = createHash('sha256').update(`${hostname()} ${pidNamespace()}`).digest('hex').slice(0, 12);

/** Marks names of temporary files and folders of this process. */
export const ownMark = `${PLACE}-${process.pid}`;

/**
 * Removes files and folders that killed processes have left in `folder`. The first group of `pattern` is the mark of the
 * process. An entry of a process that has ended here goes at once, any other a day after its last change.
 */
export function removeLeftovers(folder: string, pattern: RegExp): void {
  for (const name of readdirSync(folder)) {
    const found = pattern.exec(name);
    const path = join(folder, name);
    if (found && (hasEndedHere(found[1]) || isOld(path))) rmSync(path, { recursive: true, force: true });
  }
}

function hasEndedHere(mark = ''): boolean {
  const [place, pid] = mark.split('-');
  if (place !== PLACE) return false;
  if (Number(pid) === process.pid) return true; // this process has left nothing yet
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function isOld(path: string): boolean {
  const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Number.POSITIVE_INFINITY };
  return new SystemClock().now().getTime() - mtimeMs > LONGEST_USE_MS;
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return ''; // only Linux has them
  }
}
