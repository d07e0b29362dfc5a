import { createHash } from 'node:crypto';
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ModelFile } from '../../domain/deployments/model-file.js';
import { FolderWalk, realPath, realPaths } from '../files/folder-walk.js';
import { BackupRefused, fileChunks, type Section, type SectionHeader } from './backup-file.js';

const MOST_ENTRIES = 1_000_000;

/**
 * Lists the files in the models folders with size and digest, and those in `own` with their content if `withContent`. Leaves
 * out files that disappear meanwhile.
 */
export async function* modelFileSections(
  folders: readonly string[],
  own: string,
  withContent: boolean,
): AsyncGenerator<Section> {
  const roots = await realPaths(folders);
  const ownRoot = await realPath(own);
  for (const root of roots) {
    const walk = new FolderWalk(roots, MOST_ENTRIES);
    for await (const { folder, path } of walk.files(root, null)) {
      const file = await open(join(folder, basename(path)), 'r').catch(() => null);
      if (file) yield* sectionOf(file, { folder: root, path, included: withContent && root === ownRoot });
    }
    if (walk.truncated) throw new Error(`${root} has more than ${MOST_ENTRIES} files and folders`);
  }
}

interface Listed {
  readonly folder: string;
  readonly path: string;
  readonly included: boolean;
}

/** Reads the file twice through one handle, so a replaced file keeps its old content. */
async function* sectionOf(file: FileHandle, { folder, path, included }: Listed): AsyncGenerator<Section> {
  try {
    const { size, sha256 } = await digestOf(file);
    const header = { kind: 'model_file', folder, path, size, sha256, included } as const;
    yield included ? { header, chunks: fileChunks(file) } : { header };
    if (included && (await digestOf(file)).sha256 !== sha256) throw new Error(`${path} was changed while it was read`);
  } finally {
    await file.close();
  }
}

async function digestOf(file: FileHandle): Promise<{ size: number; sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of fileChunks(file)) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest('hex') };
}

type Chunks = AsyncIterable<Uint8Array>;

/** Writes the files of a backup beside their destination, and moves them when all are complete. */
export class RestoredFiles {
  private readonly folder: string;
  private placed: string[] = [];

  constructor(
    dataDir: string,
    private readonly models: string,
  ) {
    this.folder = mkdtempSync(join(dataDir, '.restoring-'));
  }

  /** Throws if `setting` is another secret, which could not open the sealed data of the backup. */
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
    mkdirSync(dirname(file), { recursive: true });
    const hash = createHash('sha256');
    const hashed = async function* () {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await pipeline(hashed, createWriteStream(file, { flags: 'wx', flush: true }));
    if (hash.digest('hex') !== sha256) throw new BackupRefused(`${path} is not what it was`);
  }

  /** Moves all files to their destination. `takeBack` undoes it. */
  putInPlace(secret: string): void {
    const own = join(this.folder, 'secret');
    if (existsSync(own)) this.move(own, secret);
    const models = join(this.folder, 'models');
    for (const name of existsSync(models) ? readdirSync(models) : [])
      this.move(join(models, name), join(this.models, name));
  }

  takeBack(): void {
    for (const path of this.placed.splice(0)) rmSync(path, { recursive: true, force: true });
  }

  end(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private move(from: string, to: string): void {
    if (existsSync(to)) throw new Error(`${to} is there already`);
    renameSync(from, to);
    this.placed.push(to);
  }
}
