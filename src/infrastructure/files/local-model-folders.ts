import { stat } from 'node:fs/promises';
import type { ModelFolders } from '../../application/chat/ports.js';
import { belowRoots } from './below-roots.js';

export class LocalModelFolders implements ModelFolders {
  /** `roots` are looked through in their order. */
  constructor(private readonly roots: readonly string[]) {}

  async locate(path: string): Promise<string | null> {
    for await (const found of belowRoots(this.roots, path)) {
      if (found.inside && (await stat(found.path)).isDirectory()) return found.path;
    }
    return null;
  }
}
