import type { Stats } from 'node:fs';
import { lstat, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { ModelFolders } from '../../application/chat/ports.js';
import type { ModelFileResolver } from '../../application/deployments/ports.js';
import { ModelFileInvalid } from '../../domain/deployments/errors.js';
import { refuseClimbing } from '../../domain/deployments/model-file.js';
import { pathsBelow } from './folder-walk.js';

const MAX_BYTES = 8 * 1024 ** 3;

/** A smaller sparse file does no harm. At least half of a larger one must have data. */
const MAX_SPARSE_BYTES = 256 * 1024 ** 2;

/** The unit of `Stats.blocks` on every file system. */
const BLOCK_BYTES = 512;

const MISSING = 'there is no such file in the models folders.';

/** An absolute path may name any file of the machine. Callers must not learn whether it exists. */
const outside = (path: string): string => (isAbsolute(path) ? MISSING : 'it lies outside the models folders.');

/** Finds model files below the models folders, in the order of these. */
export class LocalModelFileResolver implements ModelFileResolver {
  constructor(private readonly roots: readonly string[]) {}

  async locate(path: string): Promise<string> {
    refuseClimbing(path);
    let firstProblem: string | null = null;
    for await (const found of pathsBelow(this.roots, path)) {
      const problem = found.isInside ? await problemOf(found.path) : outside(path);
      if (problem === null) return found.path;
      firstProblem ??= problem;
    }
    throw new ModelFileInvalid(firstProblem ?? MISSING);
  }
}

/** Does not open the file: opening a FIFO or a device may block for ever. */
async function problemOf(path: string): Promise<string | null> {
  const stats = await lstat(path).catch(() => null);
  if (!stats) return MISSING;
  const { size, blocks } = stats;
  if (!stats.isFile()) return `it is ${kindOf(stats)}, not a regular file.`;
  if (!path.endsWith('.onnx')) return 'its name does not end in .onnx.';
  if (size === 0) return 'it is empty.';
  if (size > MAX_BYTES) return `it has ${size} bytes; ${MAX_BYTES} are the most.`;
  const present = blocks * BLOCK_BYTES;
  const isSparse = size > MAX_SPARSE_BYTES && present < size / 2;
  return isSparse ? `it is mostly holes: of ${size} bytes only ${present} are there.` : null;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

/** Finds model folders below the models folders, in the order of these. */
export class LocalModelFolders implements ModelFolders {
  constructor(private readonly roots: readonly string[]) {}

  async locate(path: string): Promise<string | null> {
    for await (const found of pathsBelow(this.roots, path)) {
      if (found.isInside && (await stat(found.path)).isDirectory()) return found.path;
    }
    return null;
  }
}
