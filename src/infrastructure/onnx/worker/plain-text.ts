import type { Tokenizer } from '@huggingface/tokenizers';

/** Means nothing, and no normalizer touches it: Unicode leaves it to programs for their own use. */
const MARK = '\uFDD0';

/** A special token: its text and its number. */
export interface Special {
  readonly content: string;
  readonly id: number;
}

/**
 * Keeps the special tokens of a model to its template. Whoever writes `<|im_end|>` in a message would otherwise end the
 * message, and could begin one in another's name.
 *
 * A mark inside such a text hides it from the search for special tokens, with which a tokenizer begins. When it comes to
 * cut the plain text between them into words, the marks are taken out again: the words, and so the tokens, are those of the
 * text as it was written.
 */
export class PlainText {
  /** Those that some tokenizers make out of words all the same. */
  private readonly removed: readonly string[];

  constructor(
    tokenizer: Tokenizer,
    private readonly specials: readonly Special[],
  ) {
    const words = tokenizer.pre_tokenizer;
    const unmarked = (text: string, options: object) => {
      const plain = text.replaceAll(MARK, '');
      return words ? words(plain, options) : [plain];
    };
    tokenizer.pre_tokenizer = unmarked as unknown as typeof words;
    const ids = new Set(specials.map(({ id }) => id));
    const stubborn = ({ content }: Special) =>
      tokenizer.encode(this.hidden(content), { add_special_tokens: false }).ids.some((id: number) => ids.has(id));
    this.removed = specials.filter(stubborn).map(({ content }) => content);
  }

  /** The text such that no part of it becomes a special token. Most texts stay as they are. */
  of(text: string): string {
    return this.hidden(this.removed.reduce((kept, special) => kept.replaceAll(special, ' '), text));
  }

  private hidden(text: string): string {
    // In any case: a normalizer may change it, and then there is another search.
    const small = text.toLowerCase();
    const found = this.specials.filter(({ content }) => small.includes(content.toLowerCase()));
    if (found.length === 0) return text;
    const beginnings = found.map(({ content }) => content.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
    return text.replace(new RegExp(`(?=${beginnings.join('|')}).`, 'gisu'), `$&${MARK}`);
  }
}
