import { realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';

/** Returns the absolute path after symbolic links are followed, or null if nothing is there. */
export const realPath = (path: string): Promise<string | null> => realpath(path).catch(() => null);

/** Returns the real paths of those that exist, each once. */
export async function realPaths(paths: readonly string[]): Promise<string[]> {
  const all = await Promise.all(paths.map(realPath));
  return [...new Set(all.filter((path) => path !== null))];
}

/** Both paths must be real. */
export const isBelow = (folder: string, path: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Yields the real paths that a path names in each of the folders, and whether they lie in any of the folders. */
export async function* pathsBelow(
  roots: readonly string[],
  path: string,
): AsyncGenerator<{ readonly path: string; readonly isInside: boolean }> {
  if (path.includes('\0')) return;
  const folders = await realPaths(roots);
  for (const folder of folders) {
    const found = await realPath(isAbsolute(path) ? path : join(folder, path));
    if (found !== null) yield { path: found, isInside: folders.some((one) => isBelow(one, found)) };
  }
}
