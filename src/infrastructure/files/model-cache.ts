import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LocalCopy } from '../../application/deployments/ports.js';
import type { Clock } from '../../application/shared/ports.js';
import { ModelFileInvalid } from '../../domain/deployments/errors.js';
import { StorageUnavailable } from '../../domain/shared/errors.js';
import { FOLDER_MODE, stagingFolder, unwritable, writeDurably } from './local-model-file-store.js';
import { SharedWork } from './shared-work.js';

/** A file of a model that is stored elsewhere. A change of the content changes the tag. */
export interface RemoteFile {
  /** The path within the copy. */
  readonly path: string;
  readonly size: number;
  readonly etag: string;
}

export type Download = (file: RemoteFile, signal: AbortSignal) => AsyncIterable<Uint8Array>;

export interface ModelCacheSettings {
  readonly folder: string;
  /** The limit for all copies together. Downloads of several instances at the same time may exceed it. */
  readonly mostBytes: number;
  /** A download fails after this time and its bytes at 256 KiB a second. The default is one minute. */
  readonly graceMs?: number;
}

const GRACE_MS = 60_000;
const LEAST_BYTES_PER_SECOND = 256 * 1024;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** If another instance holds a copy, the copy has a mark that is younger than this. */
const HELD_MS = 3 * 60_000;
const HEARTBEAT_MS = 60_000;

/** The most attempts to get a copy, because a copy may be removed or changed between its download and its use. */
const ATTEMPTS = 3;

interface Manifest {
  readonly files: readonly (RemoteFile & { readonly modifiedMs: number })[];
}

interface Entry {
  readonly place: string;
  readonly bytes: number;
  readonly usedMs: number;
  readonly isHeld: boolean;
}

/**
 * Keeps copies of models that are stored elsewhere. Instances may share the folder. A copy is complete or absent,
 * because it is downloaded beside its place and then moved there. The time of the manifest is the time of the copy's
 * last use. Each instance that holds a copy keeps a mark in it.
 */
export class ModelCache {
  /** Counts the holders of each copy in this process. */
  private readonly held = new Map<string, number>();
  private readonly removing = new Set<string>();
  private readonly downloads = new SharedWork();
  /** Folders that this process downloads into. */
  private readonly unfinished = new Set<string>();
  private downloading = 0;
  private readonly mark = `held-${randomBytes(8).toString('hex')}`;
  private heartbeat: NodeJS.Timeout | undefined;

  constructor(
    private readonly settings: ModelCacheSettings,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the copy of a model that consists of these files, and downloads it first if it is missing. Calls at the
   * same time share one download, which ends when the signals of all these calls are aborted. To make room, removes the
   * copies that were not used for the longest time, but never a copy that is held.
   *
   * Throws ModelFileInvalid for a model that is larger than the cache. Throws StorageUnavailable when the disk is full
   * or the held copies leave no room, and for a download that takes too long. Also throws the errors of `download` and the signal's reason.
   */
  async materialize(
    name: string,
    files: readonly RemoteFile[],
    download: Download,
    signal: AbortSignal,
  ): Promise<LocalCopy> {
    const place = join(this.folderOf(name), digest(JSON.stringify(files)));
    for (let attempt = 1; ; attempt++) {
      const copy = await this.hold(place);
      if (copy) return copy;
      if (attempt === ATTEMPTS) throw new StorageUnavailable('the copies of models change too fast');
      await this.downloads.run(place, (shared) => this.fetch(place, files, download, shared), signal);
    }
  }

  /** Returns the last used copy of a model in any version, or null. */
  async latest(name: string): Promise<LocalCopy | null> {
    const entries = await this.entriesIn(this.folderOf(name));
    for (const { place } of entries.sort((a, b) => b.usedMs - a.usedMs)) {
      const copy = await this.hold(place);
      if (copy) return copy;
    }
    return null;
  }

  /** Holds the copy in this place. Returns null if it is not complete. Removes a copy if its files were changed. */
  private async hold(place: string): Promise<LocalCopy | null> {
    // before the first await, so that no download removes the copy
    this.held.set(place, (this.held.get(place) ?? 0) + 1);
    this.heartbeat ??= setInterval(() => void this.renewMarks(), HEARTBEAT_MS).unref();
    if (!this.removing.has(place) && (await this.isUsable(place)))
      return { path: join(place, 'files'), release: once(() => void this.letGo(place)) };
    await this.letGo(place);
    return null;
  }

  private async isUsable(place: string): Promise<boolean> {
    try {
      await writeFile(join(place, this.mark), '');
    } catch {
      return false; // there is no copy, or another instance has just removed it
    }
    const isWhole = await isComplete(place);
    if (isWhole) await this.touch(manifestOf(place)).catch(() => undefined);
    else await this.discard(place).catch(() => undefined);
    return isWhole;
  }

  private async letGo(place: string): Promise<void> {
    const holders = (this.held.get(place) ?? 1) - 1;
    if (holders > 0) {
      this.held.set(place, holders);
      return;
    }
    this.held.delete(place);
    await rm(join(place, this.mark), { force: true }).catch(() => undefined);
  }

  private async fetch(
    place: string,
    files: readonly RemoteFile[],
    download: Download,
    signal: AbortSignal,
  ): Promise<void> {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const { folder, mostBytes, graceMs = GRACE_MS } = this.settings;
    if (bytes > mostBytes)
      throw new ModelFileInvalid(`it has ${bytes} bytes, and a copy may have ${mostBytes} (SERVICE_MODEL_CACHE_MB).`);
    const mostMs = graceMs + Math.ceil((bytes / LEAST_BYTES_PER_SECOND) * 1_000);
    const late = AbortSignal.timeout(Math.min(mostMs, LONGEST_TIMER_MS));
    const ending = AbortSignal.any([signal, late]);
    let part: string | null = null;
    this.downloading += bytes;
    try {
      await this.makeRoom();
      await mkdir(stagingFolder(folder), { recursive: true, mode: FOLDER_MODE });
      part = await mkdtemp(join(stagingFolder(folder), 'one-'));
      this.unfinished.add(part);
      const written = [];
      for (const file of files)
        written.push(await this.fetchFile(file, join(part, 'files', file.path), download, ending));
      await writeFile(manifestOf(part), JSON.stringify({ files: written } satisfies Manifest));
      await mkdir(dirname(place), { recursive: true, mode: FOLDER_MODE });
      await rename(part, place).catch(async (error) => {
        // Another instance was faster.
        if (!(await isComplete(place))) throw error;
      });
    } catch (error) {
      signal.throwIfAborted();
      if (late.aborted) throw new StorageUnavailable('the download of the model takes too long');
      throw unwritable(error, 'the folder of copies of models');
    } finally {
      this.downloading -= bytes;
      if (part) {
        this.unfinished.delete(part);
        await rm(part, { recursive: true, force: true }).catch(() => undefined);
      }
    }
  }

  private async fetchFile(file: RemoteFile, path: string, download: Download, signal: AbortSignal) {
    await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
    await writeDurably(path, download(file, signal));
    const { size, mtimeMs } = await stat(path);
    if (size !== file.size) throw new StorageUnavailable(`"${file.path}" has not arrived whole`);
    return { ...file, modifiedMs: mtimeMs };
  }

  /** Removes copies until all running downloads fit. */
  private async makeRoom(): Promise<void> {
    const { folder, mostBytes } = this.settings;
    const names = (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith('.'));
    const entries = (await Promise.all(names.map((name) => this.entriesIn(join(folder, name))))).flat();
    let bytes = entries.reduce((sum, entry) => sum + entry.bytes, this.downloading);
    for (const entry of entries.sort((a, b) => a.usedMs - b.usedMs)) {
      if (bytes <= mostBytes) return;
      if (entry.isHeld || this.held.has(entry.place)) continue;
      await this.discard(entry.place);
      bytes -= entry.bytes;
    }
    if (bytes > mostBytes)
      throw new StorageUnavailable(`models in use fill the ${mostBytes} bytes for copies (SERVICE_MODEL_CACHE_MB)`);
  }

  private async entriesIn(folder: string): Promise<Entry[]> {
    const names = await readdir(folder).catch(() => []);
    const entries = await Promise.all(names.map((name) => this.entryAt(join(folder, name))));
    return entries.filter((entry) => entry !== null);
  }

  private async entryAt(place: string): Promise<Entry | null> {
    try {
      const { files } = await readManifest(place);
      const { mtimeMs: usedMs } = await stat(manifestOf(place));
      const marks = (await readdir(place)).filter((name) => name.startsWith('held-') && name !== this.mark);
      const held = await Promise.all(marks.map((name) => stat(join(place, name))));
      const nowMs = this.clock.now().getTime();
      const isHeld = held.some(({ mtimeMs }) => nowMs - mtimeMs < HELD_MS);
      return { place, bytes: files.reduce((sum, { size }) => sum + size, 0), usedMs, isHeld };
    } catch {
      return null; // it has just been removed
    }
  }

  /** Moves a copy away in one step, and then deletes it. */
  private async discard(place: string): Promise<void> {
    this.removing.add(place); // from now on, nobody in this process begins to use it
    const removed = join(stagingFolder(this.settings.folder), `removed-${randomBytes(8).toString('hex')}`);
    try {
      await mkdir(dirname(removed), { recursive: true, mode: FOLDER_MODE });
      await rename(place, removed);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    } finally {
      this.removing.delete(place);
    }
    // If this fails, removeUnfinished deletes the copy later.
    await rm(removed, { recursive: true, force: true }).catch(() => undefined);
  }

  /** Shows other instances which copies this instance uses. */
  private async renewMarks(): Promise<void> {
    const marks = [...this.held.keys()].map((place) => join(place, this.mark));
    await Promise.all([...marks, ...this.unfinished].map((path) => this.touch(path).catch(() => undefined)));
  }

  private async touch(path: string): Promise<void> {
    const now = this.clock.now();
    await utimes(path, now, now);
  }

  private folderOf(name: string): string {
    return join(this.settings.folder, digest(name));
  }
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

const manifestOf = (place: string): string => join(place, 'manifest.json');

async function readManifest(place: string): Promise<Manifest> {
  return JSON.parse(await readFile(manifestOf(place), 'utf8'));
}

/** Returns whether all files of the copy are there and nobody changed them. */
async function isComplete(place: string): Promise<boolean> {
  try {
    const { files } = await readManifest(place);
    const stats = await Promise.all(files.map(({ path }) => stat(join(place, 'files', path))));
    return files.every(({ size, modifiedMs }, at) => stats[at]?.size === size && stats[at]?.mtimeMs === modifiedMs);
  } catch {
    return false;
  }
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
