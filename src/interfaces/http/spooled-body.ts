import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** The bytes that are read at once. Other requests can run after them. */
const SLICE = 64 * 1024;

/** A whole body that is read in parts, as often as needed. A long one is in a file. */
export class SpooledBody {
  private constructor(
    private readonly bytes: Buffer | null,
    private readonly file: FileHandle | null,
  ) {}

  static of(bytes: Buffer): SpooledBody {
    return new SpooledBody(bytes, null);
  }

  /** Writes a body into a file in `folder`. The file has no name any more, so it is gone with the process. */
  static async inFile(chunks: AsyncIterable<Uint8Array>, folder: string): Promise<SpooledBody> {
    const own = await mkdtemp(join(folder, 'body-'));
    let file: FileHandle | null = null;
    try {
      file = await open(join(own, 'body'), 'wx+', 0o600);
      await rm(own, { recursive: true });
      await file.writeFile(chunks);
      return new SpooledBody(null, file);
    } catch (error) {
      await file?.close();
      await rm(own, { recursive: true, force: true });
      throw error;
    }
  }

  /** Yields the bytes in parts. The next part may replace the one before. */
  private async *chunks(): AsyncGenerator<Uint8Array> {
    const { bytes, file } = this;
    for (let at = 0; bytes && at < bytes.length; at += SLICE) {
      if (at > 0) await yieldToEventLoop();
      yield bytes.subarray(at, at + SLICE);
    }
    const buffer = Buffer.allocUnsafe(file ? SLICE : 0); // a new one for each part would pile up
    for (let at = 0; file; ) {
      const { bytesRead } = await file.read(buffer, 0, SLICE, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Yields the body as text, without a byte order mark. Throws what `refusal` returns if it is not UTF-8. */
  async *texts(refusal: () => Error): AsyncGenerator<string> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const decoded = (chunk?: Uint8Array) => {
      try {
        return decoder.decode(chunk, { stream: chunk !== undefined });
      } catch {
        throw refusal();
      }
    };
    for await (const chunk of this.chunks()) yield decoded(chunk);
    const end = decoded();
    if (end) yield end;
  }

  async close(): Promise<void> {
    await this.file?.close();
  }
}
