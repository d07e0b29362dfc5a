import { basename, dirname, join } from 'node:path/posix';
import type { LocalCopy, ModelFileResolver } from '../../application/deployments/ports.js';
import { ModelFileInvalid } from '../../domain/deployments/errors.js';
import { ModelFile } from '../../domain/deployments/model-file.js';
import { StorageUnavailable } from '../../domain/shared/errors.js';
import { sizeProblem } from '../files/local-model-files.js';
import type { ModelCache } from '../files/model-cache.js';
import type { S3Bucket, StoredObject } from './s3-bucket.js';

/** A folder with more files is no model. */
const MOST_FILES = 1_000;

/** Finds models in the models folders. Copies other models from a bucket into the cache. */
export class S3ModelFileResolver implements ModelFileResolver {
  constructor(
    private readonly bucket: S3Bucket,
    private readonly folders: ModelFileResolver,
    private readonly cache: ModelCache,
  ) {}

  async materializeFile(path: string, signal: AbortSignal): Promise<LocalCopy> {
    try {
      return await this.folders.materializeFile(path, signal);
    } catch (error) {
      if (!(error instanceof ModelFileInvalid) || !path.endsWith('.onnx') || !ModelFile.isPath(path)) throw error;
      const copy = await this.copyOf(`file ${path}`, dirname(path), () => this.fileAndItsParts(path), signal);
      if (!copy) throw error;
      return { ...copy, path: join(copy.path, basename(path)) };
    }
  }

  async hasFolder(path: string): Promise<boolean> {
    if (await this.folders.hasFolder(path)) return true;
    if (!ModelFile.isPath(path)) return false;
    try {
      for await (const _ of this.bucket.list(`${path}/`)) return true;
      return false;
    } catch (error) {
      if (error instanceof StorageUnavailable) return true;
      throw error;
    }
  }

  async materializeFolder(path: string, signal: AbortSignal): Promise<LocalCopy | null> {
    const local = await this.folders.materializeFolder(path, signal);
    if (local || !ModelFile.isPath(path)) return local;
    return this.copyOf(`folder ${path}`, path, () => this.filesIn(path), signal);
  }

  /** Returns null if the bucket has no such model. If the bucket cannot be reached, returns the latest copy, if any. */
  private async copyOf(
    model: string,
    folder: string,
    find: () => Promise<StoredObject[]>,
    signal: AbortSignal,
  ): Promise<LocalCopy | null> {
    const name = `${this.bucket.name} ${model}`;
    let objects: Map<string, StoredObject>;
    try {
      objects = new Map(
        (await find()).map((object) => [folder === '.' ? object.path : object.path.slice(folder.length + 1), object]),
      );
    } catch (error) {
      const copy = error instanceof StorageUnavailable ? await this.cache.latest(name) : null;
      if (!copy) throw error;
      return copy;
    }
    if (objects.size === 0) return null;
    const files = [...objects].map(([path, { size, etag }]) => ({ path, size, etag }));
    const read = ({ path }: { path: string }, signal: AbortSignal) =>
      this.bucket.read(objects.get(path) as StoredObject, signal);
    return this.cache.materialize(name, files, read, signal);
  }

  /** Returns a file and its data files, such as `model.onnx` with `model.onnx_data` or `model.onnx.data`. */
  private async fileAndItsParts(path: string): Promise<StoredObject[]> {
    const objects: StoredObject[] = [];
    for await (const object of this.bucket.list(path)) {
      if (object.path.includes('/', path.length)) continue;
      objects.push(object);
      if (objects.length > MOST_FILES)
        throw new ModelFileInvalid(`more than ${MOST_FILES} files have names that begin with its name.`);
    }
    const file = objects.find((object) => object.path === path);
    if (!file) return [];
    const problem = sizeProblem(file.size);
    if (problem) throw new ModelFileInvalid(problem);
    return objects;
  }

  private async filesIn(folder: string): Promise<StoredObject[]> {
    const objects: StoredObject[] = [];
    for await (const object of this.bucket.list(`${folder}/`)) {
      objects.push(object);
      if (objects.length > MOST_FILES) throw new ModelFileInvalid(`the folder has more than ${MOST_FILES} files.`);
    }
    return objects;
  }
}
