import { createHash } from 'node:crypto';
import type { ModelFileStore, StoredFiles, WrittenFile } from '../../../src/application/deployments/ports.js';
import type { Clock } from '../../../src/application/shared/ports.js';
import { pathFinding, type StoredFile } from '../../../src/domain/deployments/model-file.js';
import { InvalidRequest } from '../../../src/domain/shared/errors.js';

const MOST_ENTRIES = 10_000;

/** For unit tests. It keeps what is known of the files, not what is in them. */
export class MemoryModelFileStore implements ModelFileStore {
  private readonly files = new Map<string, StoredFile>();

  /** `shipped` are the paths of files that can't be written. */
  constructor(
    private readonly clock: Clock,
    shipped: readonly string[] = [],
    private readonly mostEntries = MOST_ENTRIES,
  ) {
    for (const path of shipped) this.files.set(path, { path, size: 1, modifiedAt: clock.now(), writable: false });
  }

  async list(at: string | null = null): Promise<StoredFiles> {
    const all = [...this.files.values()].filter(({ path }) => at === null || path === at || path.startsWith(`${at}/`));
    const files = all.slice(0, this.mostEntries).sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files, truncated: all.length > this.mostEntries };
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
    this.requirePlace(path);
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of bytes) {
      size += chunk.length;
      hash.update(chunk);
    }
    this.requirePlace(path);
    const replaced = this.files.has(path);
    const file = { path, size, modifiedAt: this.clock.now(), writable: true };
    this.files.set(path, file);
    return { ...file, replaced, sha256: hash.digest('hex') };
  }

  async remove(path: string): Promise<boolean> {
    const removed = (await this.list(path)).files.filter(({ writable }) => writable);
    for (const file of removed) this.files.delete(file.path);
    return removed.length > 0;
  }

  private requirePlace(path: string): void {
    for (const other of this.files.keys()) {
      if (other.startsWith(`${path}/`)) throw new InvalidRequest([pathFinding('is a folder')]);
      if (path.startsWith(`${other}/`)) throw new InvalidRequest([pathFinding(`"${other}" is a file`)]);
    }
  }
}
