import { Tokenizer } from '@huggingface/tokenizers';
import { BrokenModel, wordsOf } from './broken-model.js';
import { contentOf } from './chat-template.js';
import type { Json, ModelFiles } from './model-files.js';
import { PlainText, type Special } from './plain-text.js';

/** Text to tokens and back. */
export class Tokens {
  private readonly tokenizer: Tokenizer;
  private readonly plainText: PlainText;

  /** Throws BrokenModel. */
  constructor(files: ModelFiles) {
    const { tokenizer, tokenizerConfig } = files;
    try {
      this.tokenizer = new Tokenizer(tokenizer, tokenizerConfig);
      this.plainText = new PlainText(tokenizer, tokenizerConfig, specialsOf(files, this.stops(files)));
      if (this.encode('Hello').length === 0) throw new Error('it makes no tokens');
    } catch (error) {
      throw new BrokenModel('tokenizer', `tokenizer.json can't be used: ${wordsOf(error)}`);
    }
  }

  /** `text` is a rendered template, which has put the special tokens where it wants them. */
  encode(text: string): number[] {
    const ids = this.plainText.encode(text);
    if (!ids.every(Number.isSafeInteger)) throw new Error('it has no token for some of the text');
    return ids;
  }

  /** What to give the template for a text that somebody wrote: none of it is taken for a special token. */
  plain(text: string): string {
    return this.plainText.of(text);
  }

  /** A character can take several tokens. Where `ids` may be `cut` within one, it is left out. */
  decode(ids: readonly number[], cut: boolean): string {
    if (ids.length === 0) return '';
    const text = this.tokenizer.decode([...ids], { skip_special_tokens: true, clean_up_tokenization_spaces: false });
    return cut ? text.replace(/\uFFFD$/, '') : text;
  }

  /** The tokens that end an answer: exports name them in three places, and not always the same. */
  stops({ generationConfig, config, tokenizerConfig }: ModelFiles): ReadonlySet<number> {
    const named = [generationConfig, config].flatMap(({ eos_token_id: ids }: Json) => ids);
    const token = contentOf(tokenizerConfig.eos_token);
    const ids = [...named, token === null ? null : this.tokenizer.token_to_id(token)];
    return new Set(ids.filter((id): id is number => Number.isSafeInteger(id)));
  }
}

/**
 * Those that are said to be special, that have a name of their own, or that end an answer. Other added tokens, such as those
 * around a model's thoughts, may be written by anybody.
 */
function specialsOf({ tokenizer: { added_tokens: added }, tokenizerConfig }: ModelFiles, stops: ReadonlySet<number>) {
  const tokens = Array.isArray(added) ? (added as readonly (Special & { special?: boolean })[]) : [];
  const { additional_special_tokens: additional } = tokenizerConfig;
  const named = Object.entries(tokenizerConfig).filter(([name]) => /^[a-z]+_token$/.test(name));
  const contents = [...named.map(([, token]) => token), ...(Array.isArray(additional) ? additional : [])].map(
    contentOf,
  );
  const isSpecial = ({ special, content, id }: (typeof tokens)[number]) =>
    content !== '' && (special === true || stops.has(id) || contents.includes(content));
  return tokens.filter(isSpecial);
}
