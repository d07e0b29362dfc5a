import { type FileHandle, open, rename } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { rotatedFiles } from './rotated-files.js';

type Done = (error?: Error | null) => void;

/**
 * Appends to a file, and begins a new one under its name before it gets longer than `most` bytes; what is written at once
 * stays in one file. What cannot be written is lost: a full disk must not take the service down.
 */
export class RotatingFile extends Writable {
  private current: { readonly handle: FileHandle; size: number } | null = null;
  /** Part of what was written may be there. */
  private broken = false;

  constructor(
    private readonly file: string,
    private readonly most: number,
  ) {
    super();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    void this.append(chunk)
      .catch(() => {
        this.broken = true;
      })
      .then(() => done());
  }

  override _final(done: Done): void {
    void this.leave()
      .catch(() => undefined)
      .then(() => done());
  }

  private async append(chunk: Buffer): Promise<void> {
    let current = await this.opened();
    if (current.size > 0 && current.size + chunk.length > this.most) {
      await this.leave();
      await this.rotate();
      current = await this.opened();
    }
    const whole = this.broken ? Buffer.concat([Buffer.from('\n'), chunk]) : chunk;
    current.size += whole.length;
    await current.handle.appendFile(whole);
    this.broken = false;
  }

  private async opened() {
    if (!this.current) {
      const handle = await open(this.file, 'a', 0o600);
      this.current = { handle, size: (await handle.stat()).size };
    }
    return this.current;
  }

  private async leave(): Promise<void> {
    const left = this.current;
    this.current = null;
    await left?.handle.close();
  }

  private async rotate(): Promise<void> {
    let [to = '', ...newer] = rotatedFiles(this.file).reverse();
    for (const from of newer) {
      await rename(from, to).catch(() => undefined); // not all of them are there from the beginning
      to = from;
    }
  }
}
