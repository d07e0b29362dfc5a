/** Reads the tool calls of an answer while it is generated. */
import type { ToolCallPart } from '../../../../domain/chat/chat.js';
import type { CallForm } from './call-form.js';

/** The text is no tool call. A grammar prevents this, unless it or the tokenizer has a fault. */
export class BrokenCall extends Error {
  constructor() {
    super('its tool call has a wrong form');
  }
}

type Place = 'name' | 'arguments' | 'next';

/** Reads text character by character, so that the text may come in any pieces. */
export class CallParser {
  private index = -1;
  private name = '';
  /** The text that has to come before `place`, without white space: some tokenizers lose it. */
  private expected: string;
  private place: Place = 'name';
  /** The number of open brackets in the arguments. */
  private depth = 0;
  private inString = false;
  private escaped = false;
  /** The text after the last call has begun. */
  private isClosed = false;
  private parts: { index: number; name?: string; arguments: string }[] = [];

  constructor(private readonly form: CallForm) {
    this.expected = bare(form.open + form.before);
  }

  /** Throws BrokenCall. */
  add(text: string): void {
    for (const character of text) this.read(character);
  }

  /** True if the answer may end here. */
  get isComplete(): boolean {
    return this.place === 'next' && this.expected === '' && (this.isClosed || this.form.close === '');
  }

  /** Returns the parts since the last `take`. */
  take(): readonly ToolCallPart[] {
    const taken = this.parts;
    this.parts = [];
    return taken;
  }

  private read(character: string): void {
    if (this.place === 'arguments' && this.expected === '') this.readArguments(character);
    else if (/\s/.test(character)) return;
    else if (this.expected !== '') this.expect(character);
    else if (this.place === 'name') this.readName(character);
    else this.readNext(character);
  }

  private expect(character: string): void {
    if (this.expected[0] !== character) throw new BrokenCall();
    this.expected = this.expected.slice(1);
  }

  private readName(character: string): void {
    const { between } = this.form;
    if (character !== between[0]) {
      this.name += character;
      return;
    }
    this.index += 1;
    this.parts.push({ index: this.index, name: this.name, arguments: '' });
    this.name = '';
    this.expected = bare(between).slice(1);
    this.place = 'arguments';
  }

  private readArguments(character: string): void {
    if (this.depth === 0 && /\s/.test(character)) return;
    if (this.depth === 0 && character !== '{') throw new BrokenCall();
    const last = this.parts.at(-1);
    if (last) last.arguments += character;
    else this.parts.push({ index: this.index, arguments: character });
    if (this.escaped) this.escaped = false;
    else if (this.inString) {
      this.escaped = character === '\\';
      this.inString = character !== '"';
    } else if (character === '"') this.inString = true;
    else if ('{['.includes(character)) this.depth += 1;
    else if ('}]'.includes(character)) this.depth -= 1;
    if (this.depth > 0) return;
    this.expected = bare(this.form.after);
    this.place = 'next';
  }

  /** Reads the beginning of another call, or the end of all calls. */
  private readNext(character: string): void {
    const { separator, before, close } = this.form;
    const another = separator === null ? '' : bare(separator + before);
    if (!this.isClosed && another[0] === character) {
      this.place = 'name';
      this.expected = another;
    } else {
      if (this.isClosed || close === '') throw new BrokenCall();
      this.isClosed = true;
      this.expected = bare(close);
    }
    this.expect(character);
  }
}

const bare = (text: string): string => text.replace(/\s+/g, '');
