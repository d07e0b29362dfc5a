import { realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';

/**
 * What a path names in each of the folders, in their order: its resolved absolute path, links followed first, and
 * whether that lies within one of the folders. Nothing is opened.
 */
export async function* belowRoots(
  roots: readonly string[],
  path: string,
): AsyncGenerator<{ readonly path: string; readonly inside: boolean }> {
  if (path.includes('\0')) return;
  const folders = await resolvedAll(roots);
  for (const folder of folders) {
    const found = await resolved(isAbsolute(path) ? path : join(folder, path));
    if (found === null) continue;
    yield { path: found, inside: folders.some((one) => isBelow(one, found)) };
  }
}

/** The absolute path, links followed; null when there is none. */
export const resolved = (path: string): Promise<string | null> => realpath(path).catch(() => null);

/** Those that there are, each once. */
export async function resolvedAll(paths: readonly string[]): Promise<string[]> {
  const all = await Promise.all(paths.map(resolved));
  return [...new Set(all.filter((path) => path !== null))];
}

/** Of resolved paths. */
export const isBelow = (folder: string, path: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
