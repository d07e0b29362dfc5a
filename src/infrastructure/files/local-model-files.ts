import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { ModelFileResolver } from '../../application/deployments/ports.js';
import { ModelFileInvalid } from '../../domain/deployments/errors.js';
import { refuseClimbing } from '../../domain/deployments/model-path.js';
import { belowRoots } from './below-roots.js';

const MOST_BYTES = 8 * 1024 ** 3;

/** Up to this size a file with holes does no harm. Above it, at least half of it has to be there. */
const SPARSE_BYTES = 256 * 1024 ** 2;

/** The unit of `Stats.blocks`, whatever the file system's own. */
const BLOCK_BYTES = 512;

const MISSING = 'there is no such file in the models folders.';

/** An absolute path can name anything on the machine, of which callers are not told whether it is there. */
const outside = (path: string): string => (isAbsolute(path) ? MISSING : 'it lies outside the models folders.');

export class LocalModelFiles implements ModelFileResolver {
  /** `roots` are looked through in their order. */
  constructor(private readonly roots: readonly string[]) {}

  async locate(path: string): Promise<string> {
    refuseClimbing(path);
    let why: string | null = null;
    for await (const found of belowRoots(this.roots, path)) {
      const problem = found.inside ? await problemOf(found.path) : outside(path);
      if (problem === null) return found.path;
      why ??= problem;
    }
    throw new ModelFileInvalid(why ?? MISSING);
  }
}

/** Asks for what is known of the file without a look into it: opening a FIFO or a device might never return. */
async function problemOf(path: string): Promise<string | null> {
  const stats = await lstat(path).catch(() => null);
  if (!stats) return MISSING;
  if (!stats.isFile()) return `it is ${kindOf(stats)}, not a regular file.`;
  if (!path.endsWith('.onnx')) return 'its name does not end in .onnx.';
  return problemOfSize(stats);
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a named pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

function problemOfSize({ size, blocks }: Stats): string | null {
  if (size === 0) return 'it is empty.';
  if (size > MOST_BYTES) return `it has ${size} bytes; ${MOST_BYTES} are the most.`;
  const there = blocks * BLOCK_BYTES;
  if (size > SPARSE_BYTES && there < size / 2) return `it is mostly holes: of ${size} bytes only ${there} are there.`;
  return null;
}
