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
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ModelFile } from '../../domain/deployments/model-file.js';
import type { SectionHeader } from './backup-format.js';
import { BackupRefused } from './read-backup.js';

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
