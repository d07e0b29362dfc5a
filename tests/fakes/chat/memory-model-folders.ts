import { posix } from 'node:path';
import type { ModelFolders } from '../../../src/application/chat/ports.js';

/** For unit tests: the folders that there are, by their absolute paths, and where each really is (itself or elsewhere). */
export class MemoryModelFolders implements ModelFolders {
  constructor(
    private readonly folders: Readonly<Record<string, string>>,
    private readonly root = '/models',
  ) {}

  async locate(path: string): Promise<string | null> {
    const folder = this.folders[posix.resolve(this.root, path)];
    return folder?.startsWith(`${this.root}/`) ? folder : null;
  }
}
