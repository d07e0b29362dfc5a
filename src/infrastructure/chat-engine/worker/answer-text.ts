/** Makes the text of an answer while its tokens are made: only as much as later tokens cannot change. */
import type { TokenLogprob } from '../../../domain/chat/chat.js';

/** A character has at most four bytes, and each of its tokens at least one of them. */
const CHARACTER = 4;

/** Some text of an answer with its tokens, if the request asks for probabilities. */
export interface AnswerPart {
  readonly text: string;
  readonly logprobs?: readonly TokenLogprob[];
}

export interface AnswerSettings {
  /** Returns the text of tokens. */
  readonly decode: (tokens: readonly number[]) => string;
  /** The answer ends before the first of these texts. */
  readonly stop?: readonly string[];
}

export class AnswerText {
  /** The answer came to a stop text. */
  stopped = false;
  /** The latest tokens, with those before them that may hold the beginning of their first character. */
  private readonly window: number[] = [];
  /** The length of the text of these tokens that is complete. */
  private complete = 0;
  /** Text that may be the beginning of a stop text. */
  private held = '';
  private ready = '';
  /** The length of all text that is or was ready. */
  private released = 0;
  private readonly searches: readonly StopSearch[];
  /** Tokens whose text is not taken, with the place where it begins. */
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
    if (this.window.length < 2 * CHARACTER) return;
    this.window.splice(0, CHARACTER);
    this.complete = this.completeText.length;
  }

  /** Makes the rest ready. If `cut`, leaves out a character that is incomplete at the end. */
  end(cut: boolean): void {
    if (this.stopped) return;
    if (!cut) this.held += this.settings.decode(this.window).slice(this.complete);
    this.release(this.held.length);
    this.released = Number.POSITIVE_INFINITY;
  }

  /** Returns what became ready since the last time. */
  take(): AnswerPart {
    const text = this.ready;
    this.ready = '';
    const isReady = ({ at }: { at: number }) => at < this.released;
    const logprobs = this.logprobs.filter(isReady).map(({ token }) => token);
    this.logprobs = this.logprobs.filter((one) => !isReady(one));
    return { text, ...(logprobs.length > 0 && { logprobs }) };
  }

  /** The text of the window, without a character that is incomplete at its end. */
  private get completeText(): string {
    return this.settings.decode(this.window).replace(/\uFFFD$/, '');
  }

  private append(text: string): void {
    for (let i = 0; i < text.length && this.searches.length > 0; i++) {
      const found = this.searches.filter((search) => search.finds(text.charCodeAt(i)));
      if (found.length === 0) continue;
      this.stopped = true;
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

/** Finds a text in another that comes character by character (Knuth, Morris and Pratt). */
class StopSearch {
  /** The length of the longest beginning of the stop text that the text ends with. */
  matched = 0;
  /** For the beginning of each length: the longest shorter one that it ends with. */
  private readonly shorter = [0, 0];

  constructor(readonly stop: string) {
    for (let i = 1; i < stop.length; i++) {
      this.finds(stop.charCodeAt(i));
      this.shorter.push(this.matched);
    }
    this.matched = 0;
  }

  /** Adds a character. Returns true if the text ends with the stop text now. */
  finds(unit: number): boolean {
    while (this.matched > 0 && this.stop.charCodeAt(this.matched) !== unit)
      this.matched = this.shorter[this.matched] as number;
    if (this.stop.charCodeAt(this.matched) === unit) this.matched += 1;
    return this.matched === this.stop.length;
  }
}
