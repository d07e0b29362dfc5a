import { createHash } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { FRAME_HEAD, FRAME_MOST, type FrameKind, frameKinds, HEAD, type Section, tailOf } from './backup-format.js';

export interface WrittenBackup {
  readonly bytes: number;
  readonly sha256: string;
  /** Gives the finished file its name. */
  publish(): Promise<void>;
}

/**
 * Writes the sections into a file beside `path` that only its owner may read, and runs `then`. Removes the file unless `then`
 * publishes it.
 */
export async function writeBackup<T>(
  path: string,
  sections: AsyncIterable<Section>,
  signal: AbortSignal,
  then: (written: WrittenBackup) => Promise<T>,
): Promise<T> {
  const unfinished = `${path}.${process.pid}.part`;
  const file = await open(unfinished, 'wx', 0o600).catch((error) => {
    throw unwritable(dirname(path), error);
  });
  try {
    const { bytes, sha256 } = await written(file, sections, signal).finally(() => file.close());
    return await then({ bytes, sha256, publish: () => publish(unfinished, path) });
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Explains why a folder takes no file, and what to do. */
function unwritable(folder: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'ENOENT') return new Error(`there is no folder ${folder}: make it, or name another`);
  if (error.code === 'ENOTDIR') return new Error(`${folder} is no folder: name one`);
  return new Error(`no file can be written in ${folder} (${error.code}): name another folder, or mend that`);
}

async function written(file: FileHandle, sections: AsyncIterable<Section>, signal: AbortSignal) {
  const hash = createHash('sha256');
  let bytes = 0;
  const write = async (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
    await file.writeFile(chunk); // appends
  };
  await write(Buffer.from(HEAD));
  const rest = async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) await write(chunk);
  };
  await pipeline(framesOf(sections), createGzip(), rest, { signal });
  const sha256 = hash.digest('hex');
  const tail = tailOf(sha256);
  await file.writeFile(tail);
  await file.sync();
  return { bytes: bytes + tail.length, sha256 };
}

async function* framesOf(sections: AsyncIterable<Section>): AsyncGenerator<Buffer> {
  for await (const { header, chunks } of sections) {
    yield* frame('header', Buffer.from(JSON.stringify(header)));
    for await (const chunk of chunks ?? []) {
      for (let at = 0; at < chunk.length; at += FRAME_MOST) yield* frame('data', chunk.subarray(at, at + FRAME_MOST));
    }
  }
  yield* frame('end', Buffer.alloc(0));
}

function* frame(kind: FrameKind, content: Uint8Array): Generator<Buffer> {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUInt8(frameKinds[kind]);
  head.writeUInt32BE(content.length, 1);
  yield head;
  if (content.length > 0) yield Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

/** Syncs the folder as well, so that the name survives a power cut. */
async function publish(unfinished: string, path: string): Promise<void> {
  await rename(unfinished, path);
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}
