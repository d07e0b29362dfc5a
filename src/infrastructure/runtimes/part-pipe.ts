/** Parts that are no longer than this together, in characters, may wait for their reader. */
const ROOM = 1024 * 1024;

/** Hands parts to one reader, and holds their writer back while too many wait. */
export class PartPipe<Part> {
  private readonly waiting: { readonly part: Part; readonly size: number }[] = [];
  private size = 0;
  private closed = false;
  /** Only one side can wait at a time: the reader for a part, or the writer for room. */
  private wake = () => {};

  /** Resolves when there is room for more, or at once after the end. */
  async put(part: Part, size: number): Promise<void> {
    this.waiting.push({ part, size });
    this.size += size;
    this.wake();
    while (this.size > ROOM && !this.closed) await this.change();
  }

  /** Ends the iteration after the parts that wait, and lets the writer go. */
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
