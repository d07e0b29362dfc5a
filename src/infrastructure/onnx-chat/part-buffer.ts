/** Joins the parts of an answer until its reader takes them. */
import type { CompletionEnd, CompletionPart, TokenLogprob } from '../../domain/chat/chat.js';

/** A token with its probability counts as this many characters. */
const LOGPROB_SIZE = 100;

export class PartBuffer {
  private text = '';
  private logprobs: TokenLogprob[] = [];
  private end: CompletionEnd | undefined;
  private size = 0;
  private failure: { readonly reason: unknown } | null = null;
  private wake = () => {};

  constructor(private readonly maxCharacters: number) {}

  /** Adds a part. Returns false if more than `maxCharacters` wait for the reader. */
  add({ text, logprobs = [], end }: CompletionPart): boolean {
    this.text += text;
    this.logprobs.push(...logprobs);
    this.end = end;
    this.size += text.length;
    for (const { top } of logprobs) this.size += LOGPROB_SIZE * (1 + top.length);
    this.wake();
    return this.size <= this.maxCharacters;
  }

  /** Drops the waiting parts. The next read of a part throws `reason`. */
  fail(reason: unknown): void {
    this.failure ??= { reason };
    this.clear();
    this.wake();
  }

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
