import { posix } from 'node:path';
import type { ModelFiles } from '../../../application/deployments/ports/model-files.js';
import { ModelFileInvalid } from '../../../domain/deployments/errors.js';

/** What a path really is: the resolved path of a file that fits, or what is wrong with it. */
export type MemoryModelFile = { readonly file: string } | { readonly wrong: string };

/** For unit tests: the files that there are, by their absolute paths. */
export class MemoryModelFiles implements ModelFiles {
  constructor(
    private readonly files: Readonly<Record<string, MemoryModelFile>>,
    private readonly root = '/models',
  ) {}

  async locate(path: string): Promise<string> {
    const at = posix.resolve(this.root, path);
    const found = this.files[at] ?? { wrong: this.isInside(at) ? 'there is no such file' : 'outside' };
    if ('wrong' in found) throw new ModelFileInvalid(found.wrong);
    if (!this.isInside(found.file)) throw new ModelFileInvalid('it lies outside the models folders.');
    return found.file;
  }

  private isInside(path: string): boolean {
    return path.startsWith(`${this.root}/`);
  }
}
