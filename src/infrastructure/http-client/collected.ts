import type { ByteStream } from '../../application/shared/ports.js';

/** The room to reserve at first for a body without a length, and by how much it grows. */
const FIRST_ROOM = 100 * 1_024;
const GROWTH = 8;

interface Limits {
  /** The most bytes of the body. */
  readonly limit: number;
  /** Throws if the body is over the limit. */
  readonly tooLong: () => Error;
  /** Reserves memory for the body. Holds what was reserved before until there is memory for the larger body. */
  readonly reserve: (bytes: number) => Promise<void>;
}

/** Returns a whole body. Reserves memory before it takes it in. */
export async function collected({ length, chunks }: ByteStream, { limit, tooLong, reserve }: Limits): Promise<Buffer> {
  if ((length ?? 0) > limit) throw tooLong();
  let room = length ?? FIRST_ROOM;
  await reserve(room);
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > limit) throw tooLong();
    while (size > room) {
      room = Math.min(limit, Math.max(FIRST_ROOM, room * GROWTH));
      await reserve(room);
    }
    pieces.push(chunk);
  }
  return Buffer.concat(pieces);
}
