import type { ChatRequest, CompletionEnd, CompletionPart } from '../../domain/chat/chat.js';
import { RuntimeInvalidResponse } from '../../domain/chat/errors.js';

type Content = Pick<CompletionPart, 'text' | 'logprobs' | 'reasoning' | 'verbatim'> & {
  readonly toolCalls?: readonly unknown[];
};

/**
 * Compares an answer, or its parts one after another, with the request. Its methods throw RuntimeInvalidResponse. The
 * caller of a verbatim request judges the content of the answer, so it only needs an end.
 */
export class AnswerCheck {
  private hasText = false;
  private callsTools = false;

  constructor(private readonly request: ChatRequest) {}

  /** Adds a part. Returns false if it is empty. */
  add({ text, toolCalls = [], logprobs = [], reasoning = '', verbatim }: Content): boolean {
    if (this.request.verbatim) return verbatim !== undefined;
    if (toolCalls.length > 0 && this.request.tools === undefined)
      throw new RuntimeInvalidResponse('it calls a tool, but the request has none.');
    this.hasText ||= text !== '' || reasoning !== '';
    this.callsTools ||= toolCalls.length > 0;
    return text !== '' || reasoning !== '' || toolCalls.length > 0 || logprobs.length > 0;
  }

  end(reason: CompletionEnd['finishReason'] | null): CompletionEnd['finishReason'] {
    if (reason === null) throw new RuntimeInvalidResponse('it ended without a reason.');
    if (this.request.verbatim) return reason;
    if (!this.hasText && !this.callsTools) throw new RuntimeInvalidResponse('it has no text of the assistant.');
    if (reason === 'tool_calls' && !this.callsTools) throw new RuntimeInvalidResponse('it calls no tool at its end.');
    return reason;
  }
}
