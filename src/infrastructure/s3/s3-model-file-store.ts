import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelFileStore, OpenedFile, StoredFiles, WrittenFile } from '../../application/deployments/ports.js';
import { invalidPath, type StoredFile } from '../../domain/deployments/model-file.js';
import { InvalidRequest, StorageUnavailable } from '../../domain/shared/errors.js';
import { MAX_ENTRIES, parentsOf } from '../files/local-model-file-store.js';
import { steadyMs } from '../system/scheduling.js';
import type { S3Bucket, StoredObject } from './s3-bucket.js';
import type { S3Uploads } from './s3-uploads.js';

const REMOVALS_AT_ONCE = 16;
const SETTLE_MS = 5_000;
const SETTLE_PAUSE_MS = 100;
const MEASURE_MS = 60_000;

interface Settling {
  readonly path: string;
  /** The ETag of the object that was written. */
  readonly etag: string;
  readonly replaced: boolean;
}

/** Stores model files in a bucket. Lists them together with the files of the models folders. */
export class S3ModelFileStore implements ModelFileStore {
  constructor(
    private readonly bucket: S3Bucket,
    private readonly uploads: S3Uploads,
    private readonly folders: ModelFileStore,
    private readonly maxEntries = MAX_ENTRIES,
    /** A write waits at most this time for a racing write to a parent of its path to give way. */
    private readonly settleMs = SETTLE_MS,
    /** The sum of all objects fails after this time, because a store may list objects without end. */
    private readonly measureMs = MEASURE_MS,
  ) {}

  async list(at?: string): Promise<StoredFiles> {
    const [folders, own] = await Promise.all([this.folders.list(at), this.objects(at)]);
    const found = new Map(own.files.map((file) => [file.path, file]));
    for (const file of folders.files) found.set(file.path, { ...file, writable: false });
    const files = [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files, truncated: folders.truncated || own.truncated };
  }

  async uploadedBytes(except?: string): Promise<number> {
    const until = steadyMs() + this.measureMs;
    let bytes = 0;
    for await (const { path, size } of this.bucket.list('')) {
      if (steadyMs() > until) throw new StorageUnavailable('the model store takes too long to list its objects');
      if (path !== except) bytes += size;
    }
    return bytes;
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
    const etag = await this.uploads.write(path, hashed());
    await this.settle({ path, etag, replaced });
    const { modifiedAt } = (await this.bucket.find(path)) ?? { modifiedAt: new Date(0) };
    return { path, size, modifiedAt, writable: true, replaced, sha256: hash.digest('hex') };
  }

  async remove(path: string): Promise<boolean> {
    const removeAll = (paths: string[]) => Promise.all(paths.map((one) => this.bucket.remove(one)));
    const batch: string[] = [];
    let removed = 0;
    for await (const object of this.bucket.list(`${path}/`, 'all')) {
      batch.push(object.path);
      if (batch.length === REMOVALS_AT_ONCE) await removeAll(batch.splice(0));
      removed++;
    }
    await removeAll(batch);
    if (removed > 0) return true;
    if (!(await this.bucket.find(path))) return false;
    await this.bucket.remove(path);
    return true;
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
    await this.requireNoFileAbove(path);
    await this.requireNoFolder(path);
  }

  /**
   * Lets one of several racing writes stay if a path lies below another one. A bucket would keep both. The write to the
   * upper path gives way if it finds the lower one. The write to the lower path waits for that, and gives way if the
   * upper one stays. A write that replaced a file waits for longer than both, because the file may have been there first.
   */
  private async settle({ path, etag, replaced }: Settling): Promise<void> {
    const until = steadyMs() + (replaced ? 2 : 1) * this.settleMs;
    try {
      if (!replaced) await this.requireNoFolder(path);
      for (;;) {
        const free = replaced ? this.requireFree(path) : this.requireNoFileAbove(path);
        const problem = await free.catch((error) => error);
        if (!problem) return;
        if (!(problem instanceof InvalidRequest) || steadyMs() > until) throw problem;
        await delay(SETTLE_PAUSE_MS);
      }
    } catch (error) {
      // Another upload may have replaced the object. After a failure of the bucket, nobody knows, and the object stays.
      if (error instanceof InvalidRequest && (await this.bucket.find(path))?.etag === etag)
        await this.bucket.remove(path);
      throw error;
    }
  }

  private async requireNoFileAbove(path: string): Promise<void> {
    const parents = await Promise.all(parentsOf(path).map((parent) => this.bucket.find(parent)));
    for (const parent of parents)
      if (parent) throw invalidPath(`"${parent.path}" is a file, so that nothing can be in it`);
  }

  private async requireNoFolder(path: string): Promise<void> {
    for await (const _ of this.bucket.list(`${path}/`)) throw invalidPath('is a folder');
  }
}
