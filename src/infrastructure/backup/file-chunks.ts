import type { FileHandle } from 'node:fs/promises';

const PIECE = 64 * 1024;

/** Yields a part of a file in pieces. A stream of Node would never release the handle. */
export async function* fileChunks(file: FileHandle, start = 0, end = Number.MAX_SAFE_INTEGER): AsyncGenerator<Buffer> {
  for (let at = start; at < end; ) {
    const length = Math.min(PIECE, end - at);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
