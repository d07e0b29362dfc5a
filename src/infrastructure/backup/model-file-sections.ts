import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { FolderWalk } from '../files/folder-walk.js';
import { realPath, realPaths } from '../files/real-paths.js';
import type { Section } from './backup-format.js';
import { fileChunks } from './file-chunks.js';

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
