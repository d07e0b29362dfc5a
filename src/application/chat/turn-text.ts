import type { Completion, CompletionPart, RequestMessage, ToolCallPart } from '../../domain/chat/chat.js';
import { conversationLimits } from '../../domain/chat/conversation.js';
import { TextCollector } from '../../domain/shared/text-collector.js';

/** Collects the text that a conversation stores of an answer: its text, and a line for each tool call. */
export class TurnText {
  private readonly text = new TextCollector(conversationLimits.answerLength + 1); // one more, to see that it is too long
  private isInCall = false;

  static of({ text, toolCalls = [] }: Pick<Completion | RequestMessage, 'toolCalls'> & { text: string }): string {
    const turn = new TurnText();
    turn.add({ text, toolCalls: toolCalls.map((call, index) => ({ index, ...call })) });
    return turn.joined;
  }

  add({ text, toolCalls = [] }: Pick<CompletionPart, 'text' | 'toolCalls'>): void {
    this.text.add(text);
    for (const part of toolCalls) this.addCall(part);
  }

  get joined(): string {
    return this.text.joined + (this.isInCall ? ')]' : '');
  }

  private addCall({ id = '', name, arguments: text }: ToolCallPart): void {
    if (name !== undefined) {
      this.text.add(`${this.isInCall ? ')]' : ''}${this.text.length > 0 ? '\n' : ''}[${id}: ${name}(`);
      this.isInCall = true;
    }
    this.text.add(text);
  }
}
