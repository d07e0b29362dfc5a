import { Tokenizer } from '@huggingface/tokenizers';
import type { Json } from './model-files.js';

/** Bounds how long one piece takes. A word that is longer is a piece of its own. */
const PIECE_CHARACTERS = 1_000;

/** What the library's types keep to themselves, or don't know. */
interface Inner {
  pre_tokenizer: ((text: string, options: { section_index: number }) => string[]) | null;
  model: Model;
  readonly post_processor: ((tokens: string[], pair: null, special: false) => { tokens: string[] }) | null;
  readonly added_tokens_map: ReadonlyMap<string, { readonly id: number }>;
  /** Words of the model; added tokens as they are. */
  encode_text(text: string): (string | string[])[];
}

interface Model {
  (words: string[]): string[];
  readonly tokens_to_ids: ReadonlyMap<string, number>;
  readonly unk_token_id?: number;
  /** Whether what it makes of a word depends on the words around it. */
  readonly fuse_unk: boolean;
}

/**
 * The library's tokenizer, which does a text in one go, some words at a time. The tokens are the same: all but the model
 * is left to it, and each word is the model's alone.
 */
export class PiecewiseTokenizer {
  private readonly whole: Tokenizer;
  private readonly inner: Inner;
  /** Null where the words can't be taken apart. */
  private readonly model: Model | null = null;
  /** Which section of a longer text is being cut into words: some tokenizers treat the first one in another way. */
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
    const handOn = (words: string[]) => [words] as unknown as string[];
    this.inner.model = Object.assign(handOn, model);
  }

  get unknown(): number | undefined {
    return this.inner.model?.unk_token_id;
  }

  /** The tokens of the text, which is so many sections into a longer one; undefined where there is none for a word. */
  *encode(text: string, section: number): Generator<(number | undefined)[]> {
    this.section = section;
    if (!this.model) {
      yield this.whole.encode(text, { add_special_tokens: false }).ids;
      return;
    }
    for (const part of this.inner.encode_text(text)) {
      if (typeof part === 'string') yield this.numbers([part]);
      else for (const words of this.model.fuse_unk ? [part] : pieces(part)) yield this.numbers(this.model(words));
    }
  }

  private numbers(tokens: readonly string[]): (number | undefined)[] {
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
