import { stat } from 'node:fs/promises';
import type { ModelFolders } from '../../application/chat/ports.js';
import { pathsBelow } from './real-paths.js';

/** Finds model folders below the models folders, in the order of these. */
export class LocalModelFolders implements ModelFolders {
  constructor(private readonly roots: readonly string[]) {}

  async locate(path: string): Promise<string | null> {
    for await (const found of pathsBelow(this.roots, path)) {
      if (found.isInside && (await stat(found.path)).isDirectory()) return found.path;
    }
    return null;
  }
}
