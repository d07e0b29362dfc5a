import { createHash } from 'node:crypto';
import type { ModelFileStore, OpenedFile, StoredFiles, WrittenFile } from '../../application/deployments/ports.js';
import { invalidPath, type StoredFile } from '../../domain/deployments/model-file.js';
import { MAX_ENTRIES, parentsOf } from '../files/local-model-file-store.js';
import type { S3Bucket, StoredObject } from './s3-bucket.js';

/** Stores model files in a bucket. Lists them together with the files of the models folders. */
export class S3ModelFileStore implements ModelFileStore {
  constructor(
    private readonly bucket: S3Bucket,
    private readonly folders: ModelFileStore,
    private readonly maxEntries = MAX_ENTRIES,
  ) {}

  async list(at?: string): Promise<StoredFiles> {
    const [folders, own] = await Promise.all([this.folders.list(at), this.objects(at)]);
    const found = new Map(own.files.map((file) => [file.path, file]));
    for (const file of folders.files) found.set(file.path, { ...file, writable: false });
    const files = [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files, truncated: folders.truncated || own.truncated };
  }

  async open(path: string): Promise<OpenedFile | null> {
    const inFolders = await this.folders.open(path);
    if (inFolders) return inFolders;
    const object = await this.bucket.find(path);
    return object && { chunks: () => this.bucket.read(object), close: async () => undefined };
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
    await this.requireFree(path);
    const replaced = (await this.bucket.find(path)) !== null;
    const hash = createHash('sha256');
    let size = 0;
    const hashed = async function* () {
      for await (const chunk of bytes) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    };
    await this.bucket.write(path, hashed());
    const { modifiedAt } = (await this.bucket.find(path)) ?? { modifiedAt: new Date(0) };
    return { path, size, modifiedAt, writable: true, replaced, sha256: hash.digest('hex') };
  }

  async remove(path: string): Promise<boolean> {
    const { files } = await this.objects(path);
    for (const file of files) await this.bucket.remove(file.path);
    return files.length > 0;
  }

  /** Leaves out an object if its path is also a folder, because on a disk a path cannot be both. */
  private async objects(at?: string): Promise<StoredFiles> {
    const files = new Map<string, StoredFile>();
    let truncated = false;
    for await (const { path, size, modifiedAt } of this.found(at)) {
      if (files.size === this.maxEntries) {
        truncated = true;
        break;
      }
      files.set(path, { path, size, modifiedAt, writable: true });
    }
    for (const path of [...files.keys()]) for (const parent of parentsOf(path)) files.delete(parent);
    return { files: [...files.values()], truncated };
  }

  private async *found(at?: string): AsyncGenerator<StoredObject> {
    if (at === undefined) return yield* this.bucket.list('');
    const object = await this.bucket.find(at);
    if (object) yield object;
    yield* this.bucket.list(`${at}/`);
  }

  /** Throws InvalidRequest if the path is a folder, or if one of its parents is a file. */
  private async requireFree(path: string): Promise<void> {
    const parents = await Promise.all(parentsOf(path).map((parent) => this.bucket.find(parent)));
    for (const parent of parents)
      if (parent) throw invalidPath(`"${parent.path}" is a file, so that nothing can be in it`);
    for await (const _ of this.bucket.list(`${path}/`)) throw invalidPath('is a folder');
  }
}
