import { posix } from 'node:path';
import type { ModelFileResolver } from '../../../src/application/deployments/ports.js';
import { ModelFileInvalid } from '../../../src/domain/deployments/errors.js';
import { refuseClimbing } from '../../../src/domain/deployments/model-file.js';

/** Maps a path to the resolved path of a valid file, or to its problem. */
export type MemoryModelFile = { readonly file: string } | { readonly wrong: string };

const MISSING = 'there is no such file in the models folders.';
const OUTSIDE = 'it lies outside the models folders.';

/** For unit tests: the files that there are, by their absolute paths. */
export class MemoryModelFileResolver implements ModelFileResolver {
  constructor(
    private readonly files: Readonly<Record<string, MemoryModelFile>>,
    private readonly root = '/models',
  ) {}

  async locate(path: string): Promise<string> {
    refuseClimbing(path);
    const at = posix.resolve(this.root, path);
    const found = this.files[at] ?? { wrong: MISSING };
    if ('wrong' in found) throw new ModelFileInvalid(found.wrong);
    if (!this.isInside(found.file)) throw new ModelFileInvalid(posix.isAbsolute(path) ? MISSING : OUTSIDE);
    return found.file;
  }

  private isInside(path: string): boolean {
    return path.startsWith(`${this.root}/`);
  }
}
