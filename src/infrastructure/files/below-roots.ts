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
  const folders = (await Promise.all(roots.map(resolved))).filter((root) => root !== null);
  for (const folder of folders) {
    const found = await resolved(isAbsolute(path) ? path : join(folder, path));
    if (found === null) continue;
    yield { path: found, inside: folders.some((one) => found.startsWith(one.endsWith(sep) ? one : one + sep)) };
  }
}

const resolved = (path: string) => realpath(path).catch(() => null);
