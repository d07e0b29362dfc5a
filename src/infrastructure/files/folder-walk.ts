import type { Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isBelow, resolved } from './below-roots.js';

export interface FoundFile {
  /** Below the folder that was walked. */
  readonly path: string;
  /** The resolved path of the folder it is in. */
  readonly folder: string;
  readonly size: number;
  readonly modifiedAt: Date;
}

/** Looks for regular files, through links too as long as they stay within the roots, and opens none. */
export class FolderWalk {
  /** There was more than it may look at. */
  truncated = false;
  private seen = 0;

  /** `roots` are resolved. */
  constructor(
    private readonly roots: readonly string[],
    private readonly mostEntries: number,
  ) {}

  /** All files of a root; with `at`, the file of this path or those in the folder of this path. */
  async *files(root: string, at: string | null): AsyncGenerator<FoundFile> {
    if (at === null) {
      yield* this.within(root, '', [root]);
      return;
    }
    const folder = await resolved(join(root, dirname(at)));
    if (folder !== null && this.isInside(folder)) {
      yield* this.entry(folder, basename(at), at, [root, folder]);
    }
  }

  private async *within(folder: string, path: string, ancestors: readonly string[]): AsyncGenerator<FoundFile> {
    const entries = await opendir(folder).catch(() => null);
    for await (const { name } of entries ?? []) {
      if (name.startsWith('.')) continue;
      if (this.seen === this.mostEntries) {
        this.truncated = true;
        return;
      }
      this.seen++;
      yield* this.entry(folder, name, path === '' ? name : `${path}/${name}`, ancestors);
    }
  }

  /** A link to a folder that it is in itself leads to nothing new. */
  private async *entry(
    folder: string,
    name: string,
    path: string,
    ancestors: readonly string[],
  ): AsyncGenerator<FoundFile> {
    const found = await this.behind(join(folder, name));
    if (!found) return;
    const { real, stats } = found;
    if (stats.isFile()) yield { path, folder, size: stats.size, modifiedAt: stats.mtime };
    if (stats.isDirectory() && !ancestors.includes(real)) yield* this.within(real, path, [...ancestors, real]);
  }

  /** What a name stands for, where that is within the roots. */
  private async behind(path: string): Promise<{ real: string; stats: Stats } | null> {
    const stats = await lstat(path).catch(() => null);
    if (!stats?.isSymbolicLink()) return stats && { real: path, stats };
    const real = await resolved(path);
    return real !== null && this.isInside(real) ? this.behind(real) : null;
  }

  private isInside(path: string): boolean {
    return this.roots.some((root) => root === path || isBelow(root, path));
  }
}
