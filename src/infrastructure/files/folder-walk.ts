import type { Stats } from 'node:fs';
import { lstat, opendir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';

export interface FoundFile {
  readonly path: string;
  readonly folder: string;
  readonly size: number;
  readonly modifiedAt: Date;
}

/** Finds regular files without opening them. Follows links that stay within the roots, and skips hidden names. */
export class FolderWalk {
  truncated = false;
  private seen = 0;

  /** The roots must be real paths. */
  constructor(
    private readonly roots: readonly string[],
    private readonly maxEntries: number,
  ) {}

  /** Yields all files of a root. With `at`, yields only the file with this path, or the files in this folder. */
  async *files(root: string, at: string | null): AsyncGenerator<FoundFile> {
    if (at === null) {
      yield* this.filesIn(root, '', [root]);
      return;
    }
    const folder = await realPath(join(root, dirname(at)));
    if (folder !== null && this.isInside(folder)) yield* this.filesAt(folder, basename(at), at, [root, folder]);
  }

  private async *filesIn(folder: string, path: string, ancestors: readonly string[]): AsyncGenerator<FoundFile> {
    const entries = await opendir(folder).catch(() => null);
    for await (const { name } of entries ?? []) {
      if (name.startsWith('.')) continue;
      if (this.seen === this.maxEntries) {
        this.truncated = true;
        return;
      }
      this.seen++;
      yield* this.filesAt(folder, name, path === '' ? name : `${path}/${name}`, ancestors);
    }
  }

  /** Yields the file, or the files of the folder, with this name. Skips links to an ancestor, which would loop. */
  private async *filesAt(
    folder: string,
    name: string,
    path: string,
    ancestors: readonly string[],
  ): AsyncGenerator<FoundFile> {
    const target = await this.targetOf(join(folder, name));
    if (!target) return;
    const { real, stats } = target;
    if (stats.isFile()) yield { path, folder, size: stats.size, modifiedAt: new Date(stats.mtimeMs) };
    if (stats.isDirectory() && !ancestors.includes(real)) yield* this.filesIn(real, path, [...ancestors, real]);
  }

  /** Returns null if nothing is there, or for a link that leads out of the roots. */
  private async targetOf(path: string): Promise<{ real: string; stats: Stats } | null> {
    const stats = await lstat(path).catch(() => null);
    if (!stats?.isSymbolicLink()) return stats && { real: path, stats };
    const real = await realPath(path);
    return real !== null && this.isInside(real) ? this.targetOf(real) : null;
  }

  private isInside(path: string): boolean {
    return this.roots.some((root) => root === path || isBelow(root, path));
  }
}

/** Returns the absolute path after symbolic links are followed, or null if nothing is there. */
export const realPath = (path: string): Promise<string | null> => realpath(path).catch(() => null);

/** Returns the real paths of the existing paths, without duplicates. */
export async function realPaths(paths: readonly string[]): Promise<string[]> {
  const all = await Promise.all(paths.map(realPath));
  return [...new Set(all.filter((path) => path !== null))];
}

/** Returns whether `path` lies in `folder`. Both must be real paths. */
export const isBelow = (folder: string, path: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** Looks for `path` in each root. Yields each real path that exists, and whether it lies in any of the roots. */
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
