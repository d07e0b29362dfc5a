/** The most characters that may wait for the reader before the writer has to wait. */
const ROOM = 1024 * 1024;

/** Passes parts from a writer to a reader. The writer has to wait while too many characters are unread. */
export class PartPipe<Part> {
  private readonly waiting: { readonly part: Part; readonly size: number }[] = [];
  private size = 0;
  private closed = false;
  /** Only one side can wait at a time: the reader for a part, or the writer for room. */
  private wake = () => {};

  /** Adds a part. Resolves when there is room for more, or when the pipe is closed. */
  async put(part: Part, size: number): Promise<void> {
    this.waiting.push({ part, size });
    this.size += size;
    this.wake();
    while (this.size > ROOM && !this.closed) await this.change();
  }

  /** Closes the pipe. The reader still gets the parts that wait. The writer no longer has to wait. */
  close(): void {
    this.closed = true;
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Part> {
    for (;;) {
      const next = this.waiting.shift();
      if (next) {
        this.size -= next.size;
        this.wake();
        yield next.part;
      } else if (this.closed) return;
      else await this.change();
    }
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
