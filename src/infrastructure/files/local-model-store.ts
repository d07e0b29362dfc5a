import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, open, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ModelFileStore, StoredFiles, WrittenFile } from '../../application/deployments/ports.js';
import { pathFinding, type StoredFile } from '../../domain/deployments/model-file.js';
import { StorageUnavailable } from '../../domain/operations/errors.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import { isBelow, resolved, resolvedAll } from './below-roots.js';
import { FolderWalk } from './folder-walk.js';
import { unfinishedIn } from './unfinished.js';

const MOST_ENTRIES = 10_000;

/** A removal beside a write may take an empty folder away that the write has just made. */
const ATTEMPTS = 10;

export class LocalModelStore implements ModelFileStore {
  /** `roots` are looked through in their order. `own`, one of them, is the one to write to. */
  constructor(
    private readonly roots: readonly string[],
    private readonly own: string,
    private readonly mostEntries = MOST_ENTRIES,
  ) {}

  async list(at: string | null = null): Promise<StoredFiles> {
    const roots = await resolvedAll(this.roots);
    const own = await resolved(this.own);
    const walk = new FolderWalk(roots, this.mostEntries);
    const found = new Map<string, StoredFile>();
    for (const root of roots) {
      for await (const { folder, ...file } of walk.files(root, at)) {
        const writable = root === own && (folder === own || isBelow(own, folder));
        if (!found.has(file.path)) found.set(file.path, { ...file, writable });
      }
    }
    const files = [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files, truncated: walk.truncated };
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
    await this.requirePlace(path);
    return this.inUnfinished(async (folder) => {
      const part = join(folder, 'part');
      const sha256 = await keep(part, bytes);
      const { size, mtime: modifiedAt } = await stat(part);
      const replaced = await this.putInPlace(part, path);
      return { path, size, modifiedAt, writable: true, replaced, sha256 };
    });
  }

  async remove(path: string): Promise<boolean> {
    const own = await resolved(this.own);
    const folder = await resolved(dirname(join(this.own, path)));
    if (own === null || folder === null || (folder !== own && !isBelow(own, folder))) return false;
    const removed = await this.inUnfinished((unfinished) => moved(join(this.own, path), join(unfinished, 'removed')));
    if (removed) await this.prune(path);
    return removed;
  }

  private async putInPlace(part: string, path: string): Promise<boolean> {
    const target = join(this.own, path);
    for (let attempt = 1; ; attempt++) {
      await this.requirePlace(path);
      try {
        await mkdir(dirname(target), { recursive: true });
        const replaced = await isThere(target);
        await rename(part, target);
        await settle(dirname(target));
        return replaced;
      } catch (error) {
        if (codeOf(error) === 'ENOENT' && attempt < ATTEMPTS) continue;
        await this.prune(path);
        throw error;
      }
    }
  }

  /** Throws InvalidRequest where something else is at the path, or on the way there. */
  private async requirePlace(path: string): Promise<void> {
    const own = await resolved(this.own);
    if (own === null) return;
    for (const folder of foldersAbove(path).reverse()) {
      const at = join(own, folder);
      const real = await resolved(at);
      if (real === null && !(await isThere(at))) return;
      if (real === null || !isBelow(own, real)) throw taken(`"${folder}" is a link that leads elsewhere`);
      if (!(await isFolder(real)) && (await isThere(real)))
        throw taken(`"${folder}" is a file, so that nothing can be in it`);
    }
    if (await isFolder(join(own, path))) throw taken('is a folder');
  }

  /** Removes the folders above that are empty. */
  private async prune(path: string): Promise<void> {
    for (const folder of foldersAbove(path)) {
      const empty = await rmdir(join(this.own, folder)).then(
        () => true,
        () => false,
      );
      if (!empty) return;
    }
  }

  /** With a folder to itself that is gone afterwards, with all that is in it. */
  private async inUnfinished<T>(work: (folder: string) => Promise<T>): Promise<T> {
    let folder: string | null = null;
    try {
      await mkdir(unfinishedIn(this.own), { recursive: true });
      folder = await mkdtemp(join(unfinishedIn(this.own), 'one-'));
      return await work(folder);
    } catch (error) {
      throw asRefusal(error);
    } finally {
      // What cannot be removed now is removed later.
      if (folder) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

/** Writes as fast as the disk takes it, no faster, and returns when it is on the disk; the digest is what it answers. */
async function keep(path: string, bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  async function* hashed() {
    for await (const chunk of bytes) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const file = await open(path, 'wx');
  try {
    await writeFile(file, hashed());
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

/** A name in a folder outlives a power cut once the folder is on the disk, too. */
async function settle(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}

async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return false;
    throw error;
  }
}

/** From the nearest one up. */
function foldersAbove(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, names.length - index).join('/'));
}

const isThere = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );

const isFolder = (path: string) =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );

const taken = (message: string) => new InvalidRequest([pathFinding(message)]);
const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException | null)?.code ?? '');

/** A failure of the file system in words; anything else stays what it is. */
function asRefusal(error: unknown): unknown {
  const code = codeOf(error);
  if (!(error as NodeJS.ErrnoException | null)?.syscall) return error;
  if (code === 'ENAMETOOLONG') return taken('is too long for the file system');
  if (['EISDIR', 'ENOTDIR', 'ENOTEMPTY'].includes(code)) return taken('is a folder, or lies in a file');
  const full = ['ENOSPC', 'EDQUOT'].includes(code);
  return new StorageUnavailable(full ? 'the disk is full' : `the models folder cannot be written (${code})`);
}
