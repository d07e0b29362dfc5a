import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { ModelFileTooLarge, UploadsBusy } from '../../domain/deployments/errors.js';
import { invalidPath, ModelFile, modelMarks, type StoredFile } from '../../domain/deployments/model-file.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import { type ByteStream, ServiceSettings } from '../shared/ports.js';
import { ModelFileStore, type WrittenFile } from './ports.js';

interface Listing {
  readonly limit: number;
  /** The last path of the previous page. */
  readonly after: string | null;
}

interface Upload {
  readonly path: string;
  readonly bytes: ByteStream;
}

const UPLOADS_AT_ONCE = 4;

@injectable()
export class ModelFileService {
  private uploading = 0;

  constructor(
    private readonly store: ModelFileStore,
    private readonly settings: ServiceSettings,
  ) {}

  /** Returns the models and all uploaded files, sorted by path. `truncated` is true if some entries were not read. */
  async list(
    by: Caller | null,
    { limit, after }: Listing,
  ): Promise<{ files: readonly ModelFile[]; truncated: boolean }> {
    authorize(by, permissions.readMonitoring);
    const { files, truncated } = await this.store.list();
    const shown = ModelFile.all(files).filter(({ kind, writable }) => kind !== 'file' || writable);
    return { files: shown.filter(({ path }) => after === null || path > after).slice(0, limit), truncated };
  }

  /**
   * Stores a whole file, or nothing if it throws. Throws ModelFileTooLarge, InvalidRequest, UploadsBusy, and what
   * `ModelFileStore.write` throws.
   */
  async upload(
    by: Caller | null,
    { path, bytes }: Upload,
  ): Promise<ModelFile & Pick<WrittenFile, 'replaced' | 'sha256'>> {
    authorize(by, permissions.manageMonitoring);
    const { modelUploadBytes: most } = this.settings;
    if (bytes.length !== null && bytes.length > most) throw new ModelFileTooLarge(most);
    const valid = ModelFile.path(path);
    if (this.uploading >= UPLOADS_AT_ONCE) throw new UploadsBusy(UPLOADS_AT_ONCE);
    this.uploading++;
    try {
      await this.requireOwnName(valid);
      const { replaced, sha256, ...file } = await this.store.write(valid, bounded(bytes.chunks, most));
      return { ...ModelFile.of(file), replaced, sha256 };
    } finally {
      this.uploading--;
    }
  }

  /** Deletes an uploaded file, or the folder of a chat or embedding model. Throws InvalidRequest, NotFound. */
  async delete(by: Caller | null, { path: sent }: { path: string }): Promise<void> {
    authorize(by, permissions.manageMonitoring);
    const path = ModelFile.path(sent);
    const files = await this.filesAt(path);
    if (files.length === 0) throw new NotFound('model file');
    if (!files.every(({ writable }) => writable)) {
      throw invalidPath('is in a models folder that the service does not write to: only uploaded files can be deleted');
    }
    if (!ModelFile.all(files).some((one) => one.path === path)) {
      throw invalidPath('is a folder that is no chat model: delete its files one by one');
    }
    if (!(await this.store.remove(path))) throw new NotFound('model file');
  }

  /** Returns the files of a folder, at least those that show whether it is a model. */
  private async filesAt(path: string): Promise<readonly StoredFile[]> {
    const { files, truncated } = await this.store.list(path);
    if (!truncated) return files;
    const marks = await Promise.all(modelMarks.map((name) => this.store.list(`${path}/${name}`)));
    return [...files, ...marks.flatMap((mark) => mark.files)];
  }

  /** Refuses a path if a read-only models folder has its first part. Files there would hide the upload or join it. */
  private async requireOwnName(path: string): Promise<void> {
    const [name = ''] = path.split('/');
    const { files } = await this.store.list(name);
    if (files.every(({ writable }) => writable)) return;
    throw invalidPath(`must not begin with "${name}", which another models folder has already`);
  }
}

async function* bounded(chunks: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) throw new ModelFileTooLarge(most);
    yield chunk;
  }
  if (size === 0) throw new InvalidRequest([{ path: '', message: 'the body is the file, and must not be empty' }]);
}
