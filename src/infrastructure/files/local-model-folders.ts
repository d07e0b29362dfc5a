import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import type { ModelFolders } from '../../application/chat/ports/model-folders.js';

export class LocalModelFolders implements ModelFolders {
  /** `roots` are looked through in their order. */
  constructor(private readonly roots: readonly string[]) {}

  async locate(path: string): Promise<string | null> {
    if (path.includes('\0')) return null;
    const roots = (await Promise.all(this.roots.map(resolved))).filter((root) => root !== null);
    for (const root of roots) {
      const folder = await resolved(isAbsolute(path) ? path : join(root, path));
      const inside = folder !== null && roots.some((one) => folder.startsWith(one.endsWith(sep) ? one : one + sep));
      if (inside && (await stat(folder)).isDirectory()) return folder;
    }
    return null;
  }
}

const resolved = (path: string) => realpath(path).catch(() => null);
