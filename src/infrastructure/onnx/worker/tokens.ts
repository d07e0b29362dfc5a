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
  constructor({ tokenizer, tokenizerConfig }: ModelFiles) {
    try {
      this.tokenizer = new Tokenizer(tokenizer, tokenizerConfig);
      this.plainText = new PlainText(this.tokenizer, specialsOf(tokenizer));
      if (this.encode('Hello').length === 0) throw new Error('it makes no tokens');
    } catch (error) {
      throw new BrokenModel('tokenizer', `tokenizer.json can't be used: ${wordsOf(error)}`);
    }
  }

  /** `text` is a rendered template, which has put the special tokens where it wants them. */
  encode(text: string): number[] {
    const { ids } = this.tokenizer.encode(text, { add_special_tokens: false });
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

/** Added tokens that aren't special, such as those around a model's thoughts, may be written by anybody. */
function specialsOf({ added_tokens: added }: Json): Special[] {
  const tokens = Array.isArray(added) ? (added as readonly (Special & { special?: boolean })[]) : [];
  return tokens.filter(({ special, content }) => special === true && content !== '');
}
