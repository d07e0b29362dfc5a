import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ModelFileStore, OpenedFile } from '../../application/deployments/ports.js';
import { ModelFile } from '../../domain/deployments/model-file.js';
import { ownMark, removeLeftovers } from '../files/leftovers.js';
import { BackupRefused, type Section } from './backup-file.js';
import type { SectionHeader } from './section-header.js';

/**
 * Yields a section with size and digest for each file of the store. With `withContent`, the sections of writable files
 * also have the content. Leaves out files that disappear in the meantime.
 */
export async function* modelFileSections(store: ModelFileStore, withContent: boolean): AsyncGenerator<Section> {
  const { files, truncated } = await store.list();
  if (truncated) throw new Error('the models folders have more files than a backup takes');
  for (const { path, writable } of files) {
    const file = await store.open(path);
    if (file) yield* sectionOf(file, path, withContent && writable);
  }
}

/** Reads an included file three times: for the digest in the header, for the content, and to notice a change. */
async function* sectionOf(file: OpenedFile, path: string, included: boolean): AsyncGenerator<Section> {
  try {
    const { size, sha256 } = await digestOf(file);
    const header = { kind: 'model_file', path, size, sha256, included } as const;
    yield included ? { header, chunks: file.chunks() } : { header };
    if (included && (await digestOf(file)).sha256 !== sha256) throw new Error(`${path} was changed while it was read`);
  } finally {
    await file.close();
  }
}

async function digestOf(file: OpenedFile): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of file.chunks()) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest('hex') };
}

type Chunks = AsyncIterable<Uint8Array>;

/**
 * Writes the files of a backup to a temporary folder, and moves them to their places when all are complete. Removes what
 * killed restores have left.
 */
export class RestoredFiles {
  private readonly folder: string;
  private readonly undo: (() => Promise<unknown>)[] = [];
  private readonly paths: string[] = [];

  constructor(
    dataDir: string,
    private readonly store: ModelFileStore,
  ) {
    removeLeftovers(dataDir, /^[.]restoring-(?:([\da-f]{12}-\d+)-)?[\w-]+$/);
    this.folder = mkdtempSync(join(dataDir, `.restoring-${ownMark}-`));
  }

  /** Stores the secret if `setting` is null. Throws if `setting` differs: only the secret opens the sealed data. */
  async secret(chunks: Chunks, setting: string | null): Promise<void> {
    const pieces: Uint8Array[] = [];
    for await (const chunk of chunks) pieces.push(chunk);
    const text = Buffer.concat(pieces);
    if (setting !== null && setting !== text.toString().trim()) {
      throw new Error('SERVICE_SECRET is not the secret of the backup: leave it unset');
    }
    if (setting === null) writeFileSync(join(this.folder, 'secret'), text, { mode: 0o600 });
  }

  async model({ path, sha256 }: Extract<SectionHeader, { kind: 'model_file' }>, chunks: Chunks): Promise<void> {
    const file = join(this.folder, 'models', ModelFile.path(path));
    this.paths.push(path);
    mkdirSync(dirname(file), { recursive: true });
    const hash = createHash('sha256');
    const hashed = async function* () {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await pipeline(hashed, createWriteStream(file, { flags: 'wx', flush: true }));
    if (hash.digest('hex') !== sha256) throw new BackupRefused(`the model file ${path} does not match its checksum`);
  }

  /** Puts all files in their places. `takeBack` removes them again. */
  async putInPlace(secretPath: string): Promise<void> {
    const restored = join(this.folder, 'secret');
    if (existsSync(restored)) {
      if (existsSync(secretPath)) throw new Error(`${secretPath} is there already`);
      renameSync(restored, secretPath);
      this.undo.push(() => rm(secretPath));
    }
    for (const path of this.paths) {
      if ((await this.store.list(path)).files.some(({ writable }) => writable))
        throw new Error(`the model file ${path} is there already`);
      this.undo.push(() => this.store.remove(path));
      await this.store.write(path, createReadStream(join(this.folder, 'models', path)));
    }
  }

  async takeBack(): Promise<void> {
    for (const undo of this.undo.splice(0)) await undo().catch(() => undefined);
  }

  end(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
