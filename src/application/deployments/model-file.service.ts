import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { ModelFileTooLarge, UploadsBusy } from '../../domain/deployments/errors.js';
import { invalidPath, ModelFile, modelMarks, type StoredFile } from '../../domain/deployments/model-file.js';
import { InvalidRequest, NotFound } from '../../domain/shared/errors.js';
import { StorageQuotas } from '../operations/storage-quotas.js';
import { type ByteStream, Clock, ServiceSettings } from '../shared/ports.js';
import { ModelFileStore, type WrittenFile } from './ports.js';

interface Listing {
  readonly limit: number;
  /** The last path of the previous page. */
  readonly after: string | null;
}

/** An upload of which `size` bytes have arrived. */
interface Arriving {
  readonly path: string;
  size: number;
}

interface Upload {
  readonly path: string;
  readonly bytes: ByteStream;
}

const UPLOADS_AT_ONCE = 4;

/** The time for which a measured amount of uploads is true enough. */
const MEASURED_MS = 60_000;

@injectable()
export class ModelFileService {
  private uploading = 0;
  /** The bytes that have arrived of the uploads that are not stored yet. */
  private arriving = 0;
  private measured: { readonly at: number; readonly bytes: number | null } | null = null;
  private measuring = false;
  /** Whether the uploads have changed since the measurement began. */
  private isStale = false;

  constructor(
    private readonly store: ModelFileStore,
    private readonly settings: ServiceSettings,
    private readonly quotas: StorageQuotas,
    private readonly clock: Clock,
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
   * Stores a whole file, or nothing if it throws. Throws ModelFileTooLarge, InvalidRequest, UploadsBusy, QuotaExceeded,
   * and what `ModelFileStore.write` throws. Uploads at the same time on other instances can exceed the quota together.
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
    const upload = { path: valid, size: 0 };
    this.uploading++;
    try {
      await this.requireOwnName(valid);
      const stored = await this.requireRoom(upload, bytes.length ?? 0);
      const { replaced, sha256, ...file } = await this.store.write(valid, this.counted(bytes.chunks, upload, stored));
      void this.measure();
      return { ...ModelFile.of(file), replaced, sha256 };
    } finally {
      this.uploading--;
      this.arriving -= upload.size;
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
    void this.measure();
  }

  /**
   * Returns the bytes of all uploads, as they were at most a minute before the last call. Never waits for the store.
   * Returns null until it has answered once, and after it did not answer.
   */
  storedBytes(): number | null {
    const age = this.clock.now().getTime() - (this.measured?.at ?? 0);
    if (age >= MEASURED_MS && !this.measuring) void this.measure();
    return this.measured?.bytes ?? null;
  }

  private async measure(): Promise<void> {
    this.isStale = true;
    if (this.measuring) return;
    this.measuring = true;
    while (this.isStale) {
      this.isStale = false;
      const at = this.clock.now().getTime();
      this.measured = { at, bytes: await this.store.uploadedBytes().catch(() => null) };
    }
    this.measuring = false;
  }

  /** Returns the bytes of the other files. Throws QuotaExceeded. */
  private async requireRoom({ path, size }: Arriving, added: number): Promise<number> {
    const stored = await this.store.uploadedBytes(path);
    this.quotas.requireRoom('uploadBytes', stored + this.arriving - size, added);
    return stored;
  }

  /** Yields the chunks while they fit beside the `stored` files and the other uploads. */
  private async *counted(
    chunks: AsyncIterable<Uint8Array>,
    upload: Arriving,
    stored: number,
  ): AsyncGenerator<Uint8Array> {
    const { modelUploadBytes: most } = this.settings;
    for await (const chunk of chunks) {
      upload.size += chunk.length;
      this.arriving += chunk.length;
      if (upload.size > most) throw new ModelFileTooLarge(most);
      this.quotas.requireRoom('uploadBytes', stored + this.arriving - upload.size, upload.size);
      yield chunk;
    }
    if (upload.size === 0)
      throw new InvalidRequest([{ path: '', message: 'the body is the file, and must not be empty' }]);
    await this.requireRoom(upload, upload.size); // other uploads may have been stored meanwhile
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
