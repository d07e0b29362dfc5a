import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Where files are until they are whole, and after they are removed: in the same file system, and not listed. */
export const unfinishedIn = (folder: string) => join(folder, '.unfinished');

/** Nothing that is under way stands still for so long: a body that stalls is given up much earlier. */
const STILL_MS = 10 * 60_000;

/** Removes what processes that ended could not finish. Others may be writing to the same folder just now. */
export async function removeUnfinished(folder: string, now: Date): Promise<void> {
  const unfinished = unfinishedIn(folder);
  for (const name of await namesIn(unfinished)) {
    const one = join(unfinished, name);
    const parts = [one, ...(await namesIn(one)).map((part) => join(one, part))];
    const times = await Promise.all(
      parts.map((part) =>
        lstat(part).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      ),
    );
    if (now.getTime() - Math.max(...times) > STILL_MS) await rm(one, { recursive: true, force: true });
  }
}

/** None, where there is no such folder. */
const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
