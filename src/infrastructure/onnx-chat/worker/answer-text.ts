/**
 * Builds the text of an answer token by token, and the tool calls after it. Returns only text that later tokens cannot
 * change.
 */
import type { TokenLogprob, ToolCallPart } from '../../../domain/chat/chat.js';
import { StartSearch, StopSearch } from './text-search.js';
import type { CallParser } from './tools/call-parser.js';

/** A character has at most four bytes in UTF-8, and each of its tokens has at least one of these bytes. */
const MAX_CHARACTER_TOKENS = 4;

/** A piece of an answer. It has `logprobs` of its text if the request asks for probabilities. */
export interface AnswerPart {
  readonly text: string;
  readonly logprobs?: readonly TokenLogprob[];
  readonly toolCalls?: readonly ToolCallPart[];
}

/** Reads the tool calls of an answer. */
export interface CallReader {
  /** Finds the text with which calls begin. */
  readonly search: StopSearch | StartSearch;
  readonly parser: CallParser;
}

export interface AnswerSettings {
  readonly decode: (tokens: readonly number[]) => string;
  /** The answer ends before the first of these texts. */
  readonly stop?: readonly string[];
  /** Absent: the answer is only text. */
  readonly calls?: CallReader;
}

export class AnswerText {
  /** True after the answer has reached a stop text. */
  stopped = false;
  /** The stop text that the answer has reached. */
  stopText: string | undefined;
  /** True after tool calls have begun. All that follows belongs to them. */
  private isCalling = false;
  /** The latest tokens. They include all tokens of a character that is still incomplete. */
  private readonly window: number[] = [];
  /** The length of the window's text without an incomplete character. */
  private complete = 0;
  /** Text that may be the beginning of a stop text. */
  private held = '';
  private ready = '';
  /** The length of all text that was ever ready. */
  private released = 0;
  private readonly searches: readonly StopSearch[];
  /** The tokens that `take` has not returned. `at` is the position of a token's text in the answer. */
  private logprobs: { readonly at: number; readonly token: TokenLogprob }[] = [];

  constructor(private readonly settings: AnswerSettings) {
    this.searches = (settings.stop ?? []).map((stop) => new StopSearch(stop));
  }

  add(id: number, token?: TokenLogprob): void {
    if (token && !this.isCalling) this.logprobs.push({ at: this.released + this.held.length, token });
    this.window.push(id);
    const text = this.completeText;
    this.append(text.slice(this.complete));
    this.complete = text.length;
    if (this.window.length < 2 * MAX_CHARACTER_TOKENS) return;
    this.window.splice(0, MAX_CHARACTER_TOKENS);
    this.complete = this.completeText.length;
  }

  /** True if the answer consists of text and complete tool calls. */
  get isCall(): boolean {
    return this.isCalling && Boolean(this.settings.calls?.parser.isComplete);
  }

  /** Makes the remaining text ready. If `cut` is true, leaves out an incomplete character at the end. */
  end(cut: boolean): void {
    if (this.stopped) return;
    const rest = cut ? '' : this.settings.decode(this.window).slice(this.complete);
    if (this.isCalling) this.settings.calls?.parser.add(rest);
    else {
      this.held += rest;
      this.release(this.held.length);
      this.released = Number.POSITIVE_INFINITY;
    }
  }

  /** Returns the text, tokens and tool calls that became ready since the last `take`. */
  take(): AnswerPart {
    const text = this.ready;
    this.ready = '';
    const isReady = ({ at }: { at: number }) => at < this.released;
    const logprobs = this.logprobs.filter(isReady).map(({ token }) => token);
    this.logprobs = this.logprobs.filter((entry) => !isReady(entry));
    const toolCalls = this.settings.calls?.parser.take() ?? [];
    return { text, ...(logprobs.length > 0 && { logprobs }), ...(toolCalls.length > 0 && { toolCalls }) };
  }

  /** Returns the text of the window without an incomplete character at its end. */
  private get completeText(): string {
    return this.settings.decode(this.window).replace(/\uFFFD$/, '');
  }

  private append(text: string): void {
    const { calls } = this.settings;
    if (this.isCalling) {
      calls?.parser.add(text);
      return;
    }
    const searches = [...this.searches, ...(calls ? [calls.search] : [])];
    for (let i = 0; i < text.length && searches.length > 0; i++) {
      const found = searches.filter((search) => search.finds(text.charCodeAt(i)));
      if (found.length === 0) continue;
      this.held += text.slice(0, i + 1);
      const stops = this.searches.filter((search) => found.includes(search));
      this.stopped = stops.length > 0;
      if (this.stopped) this.stopText = longest(stops.map(({ stop }) => stop));
      this.release(this.held.length - Math.max(...(this.stopped ? stops : found).map(({ matched }) => matched)));
      if (!this.stopped) this.begin(text.slice(i + 1));
      return;
    }
    this.held += text;
    this.release(this.held.length - Math.max(0, ...searches.map(({ matched }) => matched)));
  }

  /** Begins the tool calls. The beginning is held, and `rest` follows it. The calls have no probabilities. */
  private begin(rest: string): void {
    this.isCalling = true;
    this.settings.calls?.parser.add(this.held + rest);
    this.held = '';
  }

  private release(length: number): void {
    this.ready += this.held.slice(0, length);
    this.held = this.held.slice(length);
    this.released += length;
  }
}

const longest = (texts: readonly string[]): string =>
  texts.reduce((one, other) => (other.length > one.length ? other : one));
