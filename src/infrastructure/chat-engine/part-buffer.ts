/** Holds the parts of an answer that its reader has not taken yet, as one part. */
import type { CompletionEnd, CompletionPart, TokenLogprob } from '../../domain/chat/chat.js';

/** The memory of a token with its probability is counted as so many characters. */
const LOGPROB = 100;

export class PartBuffer {
  private text = '';
  private logprobs: TokenLogprob[] = [];
  private end: CompletionEnd | undefined;
  private size = 0;
  private failure: { readonly reason: unknown } | null = null;
  private wake = () => {};

  /** `most` is counted in characters. */
  constructor(private readonly most: number) {}

  /** Returns false if the reader is too far behind. */
  add({ text, logprobs = [], end }: CompletionPart): boolean {
    this.text += text;
    this.logprobs.push(...logprobs);
    this.end = end;
    this.size += text.length;
    for (const { top } of logprobs) this.size += LOGPROB * (1 + top.length);
    this.wake();
    return this.size <= this.most;
  }

  /** Rejects the next part. Drops the parts that are not taken. */
  fail(reason: unknown): void {
    this.failure ??= { reason };
    this.clear();
    this.wake();
  }

  /** Yields the parts up to the end. */
  async *parts(): AsyncGenerator<CompletionPart> {
    for (;;) {
      if (this.failure) throw this.failure.reason;
      const { text, logprobs, end } = this;
      if (this.size > 0 || end) {
        this.clear();
        yield { text, ...(logprobs.length > 0 && { logprobs }), ...(end && { end }) };
        if (end) return;
      } else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private clear(): void {
    this.text = '';
    this.logprobs = [];
    this.end = undefined;
    this.size = 0;
  }
}
