/** Turns tokens into text, and knows the tokens that end an answer. */
import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { firstLineOf } from '../../onnx/onnx-runtime.js';
import { BrokenModel, type Json, type ModelFiles } from './model-files.js';

export class Vocabulary {
  /** The tokens that end an answer. Exports name them in three places, which do not always agree. */
  readonly stops: ReadonlySet<number>;
  private readonly tokenizer: Tokenizer;

  /** Throws BrokenModel. */
  constructor({ tokenizer, tokenizerConfig, stopIds, namedTokens }: ModelFiles) {
    this.tokenizer = usingTokenizer(() => new Tokenizer(withoutMerges(tokenizer), tokenizerConfig));
    const { eos_token: end } = namedTokens;
    const named = end === undefined ? undefined : this.tokenizer.token_to_id(end);
    this.stops = new Set(named === undefined ? stopIds : [...stopIds, named]);
  }

  /** Returns the text. If `cut`, leaves out a character that is incomplete at the end. */
  decode(ids: readonly number[], cut: boolean): string {
    if (ids.length === 0) return '';
    const text = this.tokenizer.decode([...ids], { skip_special_tokens: true, clean_up_tokenization_spaces: false });
    return cut ? text.replace(/\uFFFD$/, '') : text;
  }
}

/** Runs something that throws if the tokenizer can't be used, and throws BrokenModel then. */
export function usingTokenizer<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw new BrokenModel('tokenizer', `tokenizer.json can't be used: ${firstLineOf(error)}`);
  }
}

const Merging = z.looseObject({ merges: z.unknown() });

/** Leaves out the merge rules, which decoding does not need: they are most of a tokenizer's memory. */
function withoutMerges(tokenizer: Json): Json {
  const { data: model } = Merging.safeParse(tokenizer.model);
  return model ? { ...tokenizer, model: { ...model, merges: [] } } : tokenizer;
}
