import { Tokenizer } from '@huggingface/tokenizers';
import { firstLineOf } from '../../onnx/native-errors.js';
import { BrokenModel } from './broken-model.js';
import { contentOf } from './chat-template.js';
import type { Json, ModelFiles } from './model-files.js';

/** What tokens mean. It makes none: without the rules for that a tokenizer is small. */
export class Vocabulary {
  /** The tokens that end an answer: exports name them in three places, and not always the same. */
  readonly stops: ReadonlySet<number>;
  private readonly tokenizer: Tokenizer;

  /** Throws BrokenModel. */
  constructor({ tokenizer, tokenizerConfig, generationConfig, config }: ModelFiles) {
    this.tokenizer = usable(() => new Tokenizer(withoutRules(tokenizer), tokenizerConfig));
    const named = [generationConfig, config].flatMap(({ eos_token_id: ids }: Json) => ids);
    const token = contentOf(tokenizerConfig.eos_token);
    const ids = [...named, token === null ? null : this.tokenizer.token_to_id(token)];
    this.stops = new Set(ids.filter((id): id is number => Number.isSafeInteger(id)));
  }

  /** A character can take several tokens. Where `ids` may be `cut` within one, it is left out. */
  decode(ids: readonly number[], cut: boolean): string {
    if (ids.length === 0) return '';
    const text = this.tokenizer.decode([...ids], { skip_special_tokens: true, clean_up_tokenization_spaces: false });
    return cut ? text.replace(/\uFFFD$/, '') : text;
  }
}

/** Throws BrokenModel where the tokenizer can't be used. */
export function usable<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw new BrokenModel('tokenizer', `tokenizer.json can't be used: ${firstLineOf(error)}`);
  }
}

function withoutRules(tokenizer: Json): Json {
  const { model } = tokenizer;
  if (typeof model !== 'object' || model === null || !('merges' in model)) return tokenizer;
  return { ...tokenizer, model: { ...model, merges: [] } };
}
