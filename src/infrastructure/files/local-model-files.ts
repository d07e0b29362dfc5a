import type { Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { LocalCopy, ModelFileResolver } from '../../application/deployments/ports.js';
import { ModelFileInvalid } from '../../domain/deployments/errors.js';
import { refuseClimbing } from '../../domain/deployments/model-file.js';
import { pathsBelow } from './folder-walk.js';

const MAX_BYTES = 8 * 1024 ** 3;

/** Files up to this size may be sparse. At least half of a larger file must have data. */
const MAX_SPARSE_BYTES = 256 * 1024 ** 2;

/** The unit of `Stats.blocks` on every file system. */
const BLOCK_BYTES = 512;

const MISSING = 'there is no such file in the models folders.';

/**
 * Returns why a path outside the models folders is refused. An absolute path may name any file of the machine, and
 * callers must not learn whether that file exists.
 */
const outside = (path: string): string => (isAbsolute(path) ? MISSING : 'it lies outside the models folders.');

/** Finds models in the models folders, in the order of the folders. Returns the model itself, not a copy. */
export class LocalModelFileResolver implements ModelFileResolver {
  constructor(private readonly roots: readonly string[]) {}

  async materializeFile(path: string): Promise<LocalCopy> {
    refuseClimbing(path);
    let firstProblem: string | null = null;
    for await (const found of pathsBelow(this.roots, path)) {
      const problem = found.isInside ? await problemOf(found.path) : outside(path);
      if (problem === null) return inPlace(found.path);
      firstProblem ??= problem;
    }
    throw new ModelFileInvalid(firstProblem ?? MISSING);
  }

  async hasFolder(path: string): Promise<boolean> {
    return (await this.materializeFolder(path)) !== null;
  }

  async materializeFolder(path: string): Promise<LocalCopy | null> {
    for await (const found of pathsBelow(this.roots, path)) {
      if (found.isInside && (await stat(found.path)).isDirectory()) return inPlace(found.path);
    }
    return null;
  }
}

const inPlace = (path: string): LocalCopy => ({ path, release: () => undefined });

/** Returns why the file is refused, or null. Does not open it, because opening a FIFO or a device may block. */
async function problemOf(path: string): Promise<string | null> {
  const stats = await lstat(path).catch(() => null);
  if (!stats) return MISSING;
  const { size, blocks } = stats;
  if (!stats.isFile()) return `it is ${kindOf(stats)}, not a regular file.`;
  if (!path.endsWith('.onnx')) return 'its name does not end in .onnx.';
  const present = blocks * BLOCK_BYTES;
  const isSparse = size > MAX_SPARSE_BYTES && present < size / 2;
  return sizeProblem(size) ?? (isSparse ? `it is mostly holes: of ${size} bytes only ${present} are there.` : null);
}

export function sizeProblem(size: number): string | null {
  if (size === 0) return 'it is empty.';
  return size > MAX_BYTES ? `it has ${size} bytes; ${MAX_BYTES} are the most.` : null;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}
