/** Builds the text of an answer token by token. Returns only text that later tokens cannot change. */
import type { TokenLogprob } from '../../../domain/chat/chat.js';

/** A character has at most four bytes in UTF-8, and each of its tokens has at least one of these bytes. */
const MAX_CHARACTER_TOKENS = 4;

/** A piece of an answer. It has `logprobs` if the request asks for probabilities. */
export interface AnswerPart {
  readonly text: string;
  readonly logprobs?: readonly TokenLogprob[];
}

export interface AnswerSettings {
  readonly decode: (tokens: readonly number[]) => string;
  /** The answer ends before the first of these texts. */
  readonly stop?: readonly string[];
}

export class AnswerText {
  /** True after the answer has reached a stop text. */
  stopped = false;
  /** The stop text that the answer has reached. */
  stopText: string | undefined;
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
    if (token) this.logprobs.push({ at: this.released + this.held.length, token });
    this.window.push(id);
    const text = this.completeText;
    this.append(text.slice(this.complete));
    this.complete = text.length;
    if (this.window.length < 2 * MAX_CHARACTER_TOKENS) return;
    this.window.splice(0, MAX_CHARACTER_TOKENS);
    this.complete = this.completeText.length;
  }

  /** Makes the remaining text ready. If `cut` is true, leaves out an incomplete character at the end. */
  end(cut: boolean): void {
    if (this.stopped) return;
    if (!cut) this.held += this.settings.decode(this.window).slice(this.complete);
    this.release(this.held.length);
    this.released = Number.POSITIVE_INFINITY;
  }

  /** Returns the text and tokens that became ready since the last `take`. */
  take(): AnswerPart {
    const text = this.ready;
    this.ready = '';
    const isReady = ({ at }: { at: number }) => at < this.released;
    const logprobs = this.logprobs.filter(isReady).map(({ token }) => token);
    this.logprobs = this.logprobs.filter((entry) => !isReady(entry));
    return { text, ...(logprobs.length > 0 && { logprobs }) };
  }

  /** Returns the text of the window without an incomplete character at its end. */
  private get completeText(): string {
    return this.settings.decode(this.window).replace(/\uFFFD$/, '');
  }

  private append(text: string): void {
    for (let i = 0; i < text.length && this.searches.length > 0; i++) {
      const found = this.searches.filter((search) => search.finds(text.charCodeAt(i)));
      if (found.length === 0) continue;
      this.stopped = true;
      this.stopText = found.reduce((longest, { stop }) => (stop.length > longest.length ? stop : longest), '');
      this.held += text.slice(0, i + 1);
      this.release(this.held.length - Math.max(...found.map(({ stop }) => stop.length)));
      return;
    }
    this.held += text;
    this.release(this.held.length - Math.max(0, ...this.searches.map(({ matched }) => matched)));
  }

  private release(length: number): void {
    this.ready += this.held.slice(0, length);
    this.held = this.held.slice(length);
    this.released += length;
  }
}

/** Finds a stop text in an answer that arrives character by character (algorithm of Knuth, Morris and Pratt). */
class StopSearch {
  /** The length of the longest prefix of the stop text that the answer ends with. */
  matched = 0;
  /** For a prefix of each length: the length of the longest shorter prefix that it ends with. */
  private readonly shorter = [0, 0];

  constructor(readonly stop: string) {
    for (let i = 1; i < stop.length; i++) {
      this.finds(stop.charCodeAt(i));
      this.shorter.push(this.matched);
    }
    this.matched = 0;
  }

  /** Adds a character. Returns true if the answer now ends with the stop text. */
  finds(unit: number): boolean {
    while (this.matched > 0 && this.stop.charCodeAt(this.matched) !== unit)
      this.matched = this.shorter[this.matched] as number;
    if (this.stop.charCodeAt(this.matched) === unit) this.matched += 1;
    return this.matched === this.stop.length;
  }
}
