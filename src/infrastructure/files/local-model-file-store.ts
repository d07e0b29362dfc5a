import { createHash } from 'node:crypto';
import {
  type FileHandle,
  lstat,
  mkdir,
  mkdtemp,
  open,
  opendir,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ModelFileStore, OpenedFile, StoredFiles, WrittenFile } from '../../application/deployments/ports.js';
import { invalidPath, type StoredFile } from '../../domain/deployments/model-file.js';
import { StorageUnavailable } from '../../domain/shared/errors.js';
import { FolderWalk, isBelow, pathsBelow, realPath, realPaths } from './folder-walk.js';

/** A list stops after this number of files and folders. */
export const MAX_ENTRIES = 10_000;
const PIECE = 64 * 1024;

/** Models belong to the service's user; its group may read them. */
const FILE_MODE = 0o640;
export const FOLDER_MODE = 0o750;

/** Attempts of a write, because a removal at the same time may delete the empty folder that the write has just made. */
const ATTEMPTS = 10;

/** Returns the folder in which uploads and removals work. It is on the file system of `folder`, and lists omit it. */
export const stagingFolder = (folder: string) => join(folder, '.unfinished');

/**
 * A staging folder that did not change for this time is abandoned. A running upload changes its file more often,
 * because a stalled body is refused much earlier.
 */
const ABANDONED_MS = 10 * 60_000;

/** Lists the files of all models folders, and writes to one of them, the upload folder. */
export class LocalModelFileStore implements ModelFileStore {
  constructor(
    private readonly roots: readonly string[],
    private readonly uploadFolder: string,
    private readonly maxEntries = MAX_ENTRIES,
  ) {}

  async list(at: string | null = null): Promise<StoredFiles> {
    const roots = await realPaths(this.roots);
    const uploads = await realPath(this.uploadFolder);
    const walk = new FolderWalk(roots, this.maxEntries);
    const found = new Map<string, StoredFile>();
    for (const root of roots) {
      for await (const { folder, ...file } of walk.files(root, at)) {
        const writable = root === uploads && (folder === uploads || isBelow(uploads, folder));
        if (!found.has(file.path)) found.set(file.path, { ...file, writable });
      }
    }
    const files = [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files, truncated: walk.truncated };
  }

  async uploadedBytes(except?: string): Promise<number> {
    const left = except === undefined ? null : join(this.uploadFolder, except);
    let bytes = 0;
    for await (const path of regularFiles(this.uploadFolder))
      if (path !== left) bytes += (await lstat(path).catch(() => null))?.size ?? 0; // may be removed meanwhile
    return bytes;
  }

  async open(path: string): Promise<OpenedFile | null> {
    for await (const found of pathsBelow(this.roots, path)) {
      const isFile = found.isInside && (await lstat(found.path)).isFile();
      if (!isFile) continue;
      const file = await open(found.path, 'r').catch(() => null);
      return file && { chunks: () => fileChunks(file), close: () => file.close() };
    }
    return null;
  }

  async write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
    await this.requireFree(path);
    return this.staged(async (folder) => {
      const part = join(folder, 'part');
      const sha256 = await writeDurably(part, bytes);
      const { size, mtimeMs } = await stat(part);
      const replaced = await this.moveIntoPlace(part, path);
      return { path, size, modifiedAt: new Date(mtimeMs), writable: true, replaced, sha256 };
    });
  }

  async remove(path: string): Promise<boolean> {
    const uploads = await realPath(this.uploadFolder);
    const folder = await realPath(dirname(join(this.uploadFolder, path)));
    if (uploads === null || folder === null || (folder !== uploads && !isBelow(uploads, folder))) return false;
    const removed = await this.staged((staging) => move(join(this.uploadFolder, path), join(staging, 'removed')));
    if (removed) await this.removeEmptyParents(path);
    return removed;
  }

  private async moveIntoPlace(part: string, path: string): Promise<boolean> {
    const target = join(this.uploadFolder, path);
    for (let attempt = 1; ; attempt++) {
      await this.requireFree(path);
      try {
        await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE });
        const replaced = await exists(target);
        await rename(part, target);
        await syncFolder(dirname(target));
        return replaced;
      } catch (error) {
        if (codeOf(error) === 'ENOENT' && attempt < ATTEMPTS) continue;
        await this.removeEmptyParents(path);
        throw error;
      }
    }
  }

  /** Throws InvalidRequest if the path is a folder, or if a parent is a file or a link that leads elsewhere. */
  private async requireFree(path: string): Promise<void> {
    const uploads = await realPath(this.uploadFolder);
    if (uploads === null) return;
    for (const parent of parentsOf(path).reverse()) {
      const at = join(uploads, parent);
      const real = await realPath(at);
      if (real === null && !(await exists(at))) return;
      if (real === null || !isBelow(uploads, real)) throw invalidPath(`"${parent}" is a link that leads elsewhere`);
      if (!(await isFolder(real)) && (await exists(real)))
        throw invalidPath(`"${parent}" is a file, so that nothing can be in it`);
    }
    if (await isFolder(join(uploads, path))) throw invalidPath('is a folder');
  }

  private async removeEmptyParents(path: string): Promise<void> {
    for (const parent of parentsOf(path)) await rmdir(join(this.uploadFolder, parent)).catch(() => undefined);
  }

  /** Runs `work` with a new staging folder and removes it afterwards. Turns failures of the disk into domain errors. */
  private async staged<T>(work: (folder: string) => Promise<T>): Promise<T> {
    let folder: string | null = null;
    try {
      await mkdir(stagingFolder(this.uploadFolder), { recursive: true, mode: FOLDER_MODE });
      folder = await mkdtemp(join(stagingFolder(this.uploadFolder), 'one-'));
      return await work(folder);
    } catch (error) {
      throw unwritable(error, 'the models folder');
    } finally {
      // If this fails, removeUnfinished deletes the folder later.
      if (folder) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

/** Deletes the staging folders that did not change recently. Other processes may be using the rest. */
export async function removeUnfinished(uploadFolder: string, now: Date): Promise<void> {
  const staging = stagingFolder(uploadFolder);
  for (const name of await namesIn(staging)) {
    const folder = join(staging, name);
    const paths = [folder, ...(await namesIn(folder)).map((part) => join(folder, part))];
    const stats = await Promise.all(paths.map((path) => lstat(path).catch(() => null)));
    const changedMs = Math.max(...stats.map((one) => one?.mtimeMs ?? 0));
    if (now.getTime() - changedMs > ABANDONED_MS) await rm(folder, { recursive: true, force: true });
  }
}

/** Yields the paths of the files in a folder and its folders, one by one. Skips links and hidden names. */
async function* regularFiles(folder: string): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(() => []);
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) yield* regularFiles(path);
    else if (entry.isFile()) yield path;
  }
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** Writes a new file and returns its SHA-256 after it is on the disk. Reads the bytes no faster than it writes them. */
export async function writeDurably(path: string, bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  async function* hashed() {
    for await (const chunk of bytes) {
      hash.update(chunk);
      yield chunk;
    }
  }
  const file = await open(path, 'wx', FILE_MODE);
  try {
    await writeFile(file, hashed());
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

/** Syncs the folder, so that the names in it survive a power cut. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}

/** Returns false if there is nothing to move. */
async function move(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return false;
    throw error;
  }
}

/** Returns the folders above a path, the nearest first. */
export function parentsOf(path: string): string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, names.length - index).join('/'));
}

const exists = async (path: string): Promise<boolean> => (await lstat(path).catch(() => null)) !== null;

const isFolder = async (path: string): Promise<boolean> => (await stat(path).catch(() => null))?.isDirectory() ?? false;

const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException | null)?.code ?? '');

/** Returns a domain error for a failure to write to the file system, and any other error unchanged. */
export function unwritable(error: unknown, what: string): unknown {
  const code = codeOf(error);
  if (!(error as NodeJS.ErrnoException | null)?.syscall) return error;
  if (code === 'ENAMETOOLONG') return invalidPath('is too long for the file system');
  if (['EISDIR', 'ENOTDIR', 'ENOTEMPTY'].includes(code)) return invalidPath('is a folder, or lies in a file');
  const isFull = ['ENOSPC', 'EDQUOT'].includes(code);
  return new StorageUnavailable(isFull ? 'the disk is full' : `${what} cannot be written (${code})`);
}

/** Yields a part of a file in pieces. Uses no stream of Node.js, because such a stream never releases the handle. */
export async function* fileChunks(file: FileHandle, start = 0, end = Number.MAX_SAFE_INTEGER): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const length = Math.min(PIECE, end - at);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
