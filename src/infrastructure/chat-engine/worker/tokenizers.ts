import { Tokenizer } from '@huggingface/tokenizers';
import { z } from 'zod';
import { firstLineOf } from '../../onnx/onnx-runtime.js';
import { BrokenModel, type Json, type ModelFiles } from './model-files.js';

/** Bounds the time for one piece. A longer word is a piece of its own. */
const PIECE_CHARACTERS = 1_000;

/** Parts of the library's tokenizer that its types hide or lack. */
interface Inner {
  pre_tokenizer: ((text: string, options: { section_index: number }) => string[]) | null;
  model: Model;
  readonly post_processor: ((tokens: string[], pair: null, special: false) => { tokens: string[] }) | null;
  readonly added_tokens_map: ReadonlyMap<string, { readonly id: number }>;
  /** Gives lists of words for the model, and added tokens as strings. */
  encode_text(text: string): (string | string[])[];
}

interface Model {
  (words: string[]): string[];
  readonly tokens_to_ids: ReadonlyMap<string, number>;
  readonly unk_token_id?: number;
  /** The tokens of a word depend on the words around it. */
  readonly fuse_unk: boolean;
}

/**
 * The library's tokenizer, which tokenizes a whole text in one go, some words at a time. The tokens are the same, because
 * the library still does everything but the model's part, and the model treats each word by itself.
 */
export class IncrementalTokenizer {
  private readonly whole: Tokenizer;
  private readonly inner: Inner;
  /** Is null if the words can't be taken apart. */
  private readonly model: Model | null = null;
  /** The section of a longer text that is cut into words now. Some tokenizers treat the first one differently. */
  private section = 0;

  constructor(tokenizer: Json, config: Json) {
    this.whole = new Tokenizer(tokenizer, config);
    this.inner = this.whole as unknown as Inner;
    const { pre_tokenizer: words, model, post_processor: finish } = this.inner;
    if (words)
      this.inner.pre_tokenizer = (text, options) =>
        words(text, { ...options, section_index: options.section_index + this.section });
    const some = ['a', 'b'];
    if (finish && finish(some, null, false).tokens.join() !== some.join()) return;
    this.model = model;
    // The library then returns the words of each section instead of their tokens.
    const passOn = (words: string[]) => [words] as unknown as string[];
    this.inner.model = Object.assign(passOn, model);
  }

  get unknown(): number | undefined {
    return this.inner.model?.unk_token_id;
  }

  /** Yields the tokens of section number `section` of a text, with undefined for a word without a token. */
  *encode(text: string, section: number): Generator<(number | undefined)[]> {
    this.section = section;
    if (!this.model) {
      yield this.whole.encode(text, { add_special_tokens: false }).ids;
      return;
    }
    for (const part of this.inner.encode_text(text)) {
      if (typeof part === 'string') yield this.idsOf([part]);
      else for (const words of this.model.fuse_unk ? [part] : pieces(part)) yield this.idsOf(this.model(words));
    }
  }

  private idsOf(tokens: readonly string[]): (number | undefined)[] {
    const { added_tokens_map: added, model } = this.inner;
    return tokens.map((token) => added.get(token)?.id ?? model.tokens_to_ids.get(token) ?? model.unk_token_id);
  }
}

function* pieces(words: readonly string[]): Generator<string[]> {
  for (let from = 0; from < words.length; ) {
    let to = from;
    for (let size = 0; to < words.length && size < PIECE_CHARACTERS; to++) size += (words[to] as string).length;
    yield words.slice(from, to);
    from = to;
  }
}

/** Turns tokens into text, and knows the tokens that end an answer. */
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
