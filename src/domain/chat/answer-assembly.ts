import { TextCollector } from '../shared/text-collector.js';
import type { Completion, CompletionPart, TokenLogprob, ToolCallPart } from './chat.js';
import { RuntimeInvalidResponse } from './errors.js';
import { type AnswerItem, responseLimits } from './response.js';

/** A part of an answer as it is stored. */
export interface ResponsePart extends Pick<CompletionPart, 'text' | 'logprobs' | 'toolCalls' | 'reasoning'> {
  /** The model begins its answer anew. The items before are no part of the answer. */
  readonly anew?: true;
}

export type AnswerStep =
  | { readonly step: 'begun'; readonly item: AnswerItem }
  /** `text` continues the text or the arguments of the item. */
  | {
      readonly step: 'grown';
      readonly item: AnswerItem;
      readonly text: string;
      readonly logprobs: readonly TokenLogprob[];
    }
  | { readonly step: 'ended'; readonly item: AnswerItem };

interface Open {
  readonly item: AnswerItem;
  /** The index of the call among the calls of the answer. */
  readonly call: number | null;
  readonly text: TextCollector;
  readonly logprobs: TokenLogprob[];
}

/** The JSON of a token with its likeliest alternatives, about. */
const TOKEN_BYTES = 60;

/** Builds the items of an answer from its parts. The same parts give the same items and steps. */
export class AnswerAssembly {
  private finished: AnswerItem[] = [];
  private open: Open | null = null;
  private begun = 0;
  private calls = 0;
  private size = 0;

  /** The bytes of the answer, about. */
  get bytes(): number {
    return this.size;
  }

  get isFull(): boolean {
    return this.size > responseLimits.answerBytes;
  }

  /** The items that have ended. */
  get items(): readonly AnswerItem[] {
    return this.finished;
  }

  /** Throws RuntimeInvalidResponse if the calls of tools are mixed up. */
  *add({ text, logprobs = [], toolCalls = [], reasoning = '', anew }: ResponsePart): Generator<AnswerStep, void> {
    if (anew) {
      yield* this.close(false);
      this.finished = [];
      this.calls = 0;
    }
    if (reasoning !== '') yield* this.grow('reasoning', reasoning, []);
    if (text !== '' || logprobs.length > 0) yield* this.grow('text', text, logprobs);
    for (const call of toolCalls) yield* this.addCall(call);
  }

  /** Adds a whole answer. */
  *addWhole({ text, logprobs, toolCalls = [], reasoning }: Completion): Generator<AnswerStep, void> {
    const calls = toolCalls.map((call, index) => ({ ...call, index }));
    yield* this.add({
      text,
      toolCalls: calls,
      ...(reasoning && { reasoning }),
      ...(logprobs && { logprobs: [...logprobs] }),
    });
  }

  /** Ends the answer. A complete answer has at least one item. */
  *end(isComplete: boolean): Generator<AnswerStep, void> {
    if (isComplete && !this.open && this.finished.length === 0) yield* this.grow('text', '', []);
    yield* this.close(isComplete);
  }

  private *close(isComplete: boolean): Generator<AnswerStep, void> {
    if (!this.open) return;
    const { item, text, logprobs } = this.open;
    this.open = null;
    const joined = text.joined;
    const filled =
      item.kind === 'call'
        ? { ...item, arguments: joined }
        : { ...item, text: joined, ...(logprobs.length > 0 && { logprobs }) };
    const ended = isComplete ? filled : { ...filled, isCut: true as const };
    this.finished.push(ended);
    yield { step: 'ended', item: ended };
  }

  private *grow(kind: 'reasoning' | 'text', text: string, logprobs: readonly TokenLogprob[]) {
    if (this.open?.item.kind !== kind) yield* this.begin({ kind, text: '', index: this.begun }, null);
    yield* this.continue(text, logprobs);
  }

  private *addCall({ index, id, name, arguments: text }: ToolCallPart) {
    if (this.open?.call !== index) {
      if (index < this.calls || name === undefined)
        throw new RuntimeInvalidResponse('the parts of its calls of tools are mixed up.');
      this.calls = index + 1;
      const item = { kind: 'call', id: id ?? `call_${this.begun}`, name, arguments: '', index: this.begun } as const;
      yield* this.begin(item, index);
      this.size += name.length;
    }
    yield* this.continue(text, []);
  }

  private *begin(item: AnswerItem, call: number | null): Generator<AnswerStep, void> {
    yield* this.close(true);
    this.begun++;
    this.open = { item, call, text: new TextCollector(Number.MAX_SAFE_INTEGER), logprobs: [] };
    yield { step: 'begun', item };
  }

  private *continue(text: string, logprobs: readonly TokenLogprob[]): Generator<AnswerStep, void> {
    const open = this.open as Open;
    open.text.add(text);
    for (const one of logprobs) open.logprobs.push(one);
    const tokens = logprobs.reduce((count, { top }) => count + 1 + top.length, 0);
    this.size += text.length + TOKEN_BYTES * tokens;
    if (text !== '' || logprobs.length > 0) yield { step: 'grown', item: open.item, text, logprobs };
  }
}
