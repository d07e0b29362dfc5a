/** Joins the parts of an answer until its reader takes them. */
import type { CompletionEnd, CompletionPart, TokenLogprob, ToolCallPart } from '../../domain/chat/chat.js';

/** A token with its probability counts as this many characters. */
const LOGPROB_SIZE = 100;
/** The first part of a tool call counts as this many characters more than its arguments. */
const CALL_SIZE = 100;

export class PartBuffer {
  private text = '';
  private logprobs: TokenLogprob[] = [];
  private toolCalls: ToolCallPart[] = [];
  private end: CompletionEnd | undefined;
  private size = 0;
  private failure: { readonly reason: unknown } | null = null;
  private wake = () => {};

  constructor(private readonly maxCharacters: number) {}

  /** Adds a part. Returns false if more than `maxCharacters` wait for the reader. */
  add({ text, logprobs = [], toolCalls = [], end }: CompletionPart): boolean {
    this.text += text;
    this.logprobs.push(...logprobs);
    this.end = end;
    this.size += text.length;
    for (const { top } of logprobs) this.size += LOGPROB_SIZE * (1 + top.length);
    for (const part of toolCalls) this.addCall(part);
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
      const { text, logprobs, toolCalls, end } = this;
      if (this.size > 0 || end) {
        this.clear();
        const calls = toolCalls.length > 0 && { toolCalls };
        yield { text, ...(logprobs.length > 0 && { logprobs }), ...calls, ...(end && { end }) };
        if (end) return;
      } else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  private addCall(part: ToolCallPart): void {
    this.size += part.arguments.length + (part.name === undefined ? 0 : CALL_SIZE);
    const last = this.toolCalls.at(-1);
    if (last?.index !== part.index) this.toolCalls.push(part);
    else this.toolCalls[this.toolCalls.length - 1] = { ...last, arguments: last.arguments + part.arguments };
  }

  private clear(): void {
    this.text = '';
    this.logprobs = [];
    this.toolCalls = [];
    this.end = undefined;
    this.size = 0;
  }
}
