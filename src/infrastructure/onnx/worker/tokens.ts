import { Tokenizer } from '@huggingface/tokenizers';
import { BrokenModel, wordsOf } from './broken-model.js';
import { contentOf } from './chat-template.js';
import type { Json, ModelFiles } from './model-files.js';

/** Text to tokens and back. */
export class Tokens {
  private readonly tokenizer: Tokenizer;

  /** Throws BrokenModel. */
  constructor({ tokenizer, tokenizerConfig }: ModelFiles) {
    try {
      this.tokenizer = new Tokenizer(tokenizer, tokenizerConfig);
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

  decode(ids: readonly number[]): string {
    if (ids.length === 0) return '';
    return this.tokenizer.decode([...ids], { skip_special_tokens: true, clean_up_tokenization_spaces: false });
  }

  /** The tokens that end an answer: exports name them in three places, and not always the same. */
  stops({ generationConfig, config, tokenizerConfig }: ModelFiles): ReadonlySet<number> {
    const named = [generationConfig, config].flatMap(({ eos_token_id: ids }: Json) => ids);
    const token = contentOf(tokenizerConfig.eos_token);
    const ids = [...named, token === null ? null : this.tokenizer.token_to_id(token)];
    return new Set(ids.filter((id): id is number => Number.isSafeInteger(id)));
  }
}
