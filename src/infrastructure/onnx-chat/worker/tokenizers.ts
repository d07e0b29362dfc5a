import { Tokenizer } from '@huggingface/tokenizers';
import { firstLineOf } from '../../onnx/onnx-runtime.js';
import { BrokenModel, isJson, type Json, type ModelFiles } from './model-files.js';

/** Parts of the library's tokenizer that its types hide. */
interface Inner {
  readonly special_tokens: readonly string[];
  pre_tokenizer: ((text: string, options: { section_index: number }) => string[]) | null;
  readonly model: { readonly unk_token_id?: number };
}

/** Tokenizes the sections of a text one by one. Some tokenizers treat the first section of a text differently. */
export class SectionTokenizer {
  /** The token for words that the model does not know. */
  readonly unknown: number | undefined;
  private readonly tokenizer: Tokenizer;
  private section = 0;

  constructor(tokenizer: Json, config: Json) {
    this.tokenizer = new Tokenizer(tokenizer, config);
    const inner = this.tokenizer as unknown as Inner;
    const { pre_tokenizer: words, model } = inner;
    this.unknown = model.unk_token_id;
    if (words)
      inner.pre_tokenizer = (text, options) =>
        words(text, { ...options, section_index: options.section_index + this.section });
  }

  has(token: number): boolean {
    return this.tokenizer.id_to_token(token) !== undefined;
  }

  /** Returns the tokens of section number `section` of a text, with undefined for a word without a token. */
  encode(text: string, section: number): readonly (number | undefined)[] {
    this.section = section;
    return this.tokenizer.encode(text, { add_special_tokens: false }).ids;
  }
}

/** Turns tokens into text, and knows the tokens that end an answer. */
export class Vocabulary {
  /** The tokens that end an answer. Exports name them in three places, which do not always agree. */
  readonly stops: ReadonlySet<number>;
  private readonly tokenizer: Tokenizer;
  private readonly added: ReadonlyMap<number, unknown>;
  private readonly isByteLevel: boolean;

  /** Throws BrokenModel. */
  constructor({ tokenizer, tokenizerConfig, stopIds, namedTokens }: ModelFiles) {
    this.tokenizer = usingTokenizer(() => new Tokenizer(withoutMerges(tokenizer), tokenizerConfig));
    this.added = this.tokenizer.get_added_tokens_decoder();
    this.isByteLevel = readsBytes(tokenizer.decoder);
    const { eos_token: end } = namedTokens;
    const named = end === undefined ? undefined : this.tokenizer.token_to_id(end);
    this.stops = new Set(named === undefined ? stopIds : [...stopIds, named]);
  }

  /** Returns the text of tokens. Special tokens, except `kept`, and numbers beyond the vocabulary have no text. */
  decode(ids: readonly number[], kept?: ReadonlySet<number>): string {
    const known = ids.filter((id) => {
      const token = this.tokenizer.id_to_token(id);
      return token !== undefined && (!kept || kept.has(id) || !this.special.includes(token));
    });
    if (known.length === 0) return '';
    return this.tokenizer.decode(known, { skip_special_tokens: !kept, clean_up_tokenization_spaces: false });
  }

  /**
   * Returns the added tokens that an answer with tool calls may contain, each as byte-level vocabularies write it: those
   * that are not special, and special ones within the texts `around` the calls.
   */
  addedPieces(around: readonly string[]): Map<number, string> {
    const pieces = new Map<number, string>();
    for (const id of this.added.keys()) {
      const token = this.tokenizer.id_to_token(id) ?? '';
      const isOfCalls = around.some((text) => token !== '' && text.includes(token));
      if (!this.stops.has(id) && (isOfCalls || !this.special.includes(token))) pieces.set(id, this.pieceOf(id));
    }
    return pieces;
  }

  /**
   * Returns each token as byte-level vocabularies write it: a character for each byte. Added tokens and end tokens are
   * empty, because an answer in a response format does not contain them.
   */
  pieces(): string[] {
    const ids = [...this.tokenizer.get_vocab(true).values(), ...this.stops];
    const size = ids.reduce((most, id) => Math.max(most, id + 1), 0);
    return Array.from({ length: size }, (_, id) => (this.added.has(id) || this.stops.has(id) ? '' : this.pieceOf(id)));
  }

  private pieceOf(id: number): string {
    return this.bytesOf(id)
      .map((byte) => CHARACTERS[byte])
      .join('');
  }

  private get special(): readonly string[] {
    return (this.tokenizer as unknown as Inner).special_tokens;
  }

  /** Returns the UTF-8 bytes of a token. They may be a part of a character. */
  bytesOf(id: number): number[] {
    const piece = this.tokenizer.id_to_token(id) ?? '';
    if (this.added.has(id)) return [...Buffer.from(piece)];
    if (this.isByteLevel) return [...piece].map((character) => BYTES.get(character) ?? 0);
    const [, byte] = /^<0x([0-9A-Fa-f]{2})>$/.exec(piece) ?? [];
    if (byte) return [Number.parseInt(byte, 16)];
    // The first token of a text may lose its space, so this decodes two copies and takes the text of the second.
    return [...Buffer.from(this.decode([id, id]).slice(this.decode([id]).length))];
  }
}

/** Returns whether a decoder reads each character of a token as a byte. */
function readsBytes(decoder: unknown): boolean {
  if (!isJson(decoder)) return false;
  const { decoders } = decoder;
  return [decoder, ...(Array.isArray(decoders) ? decoders : [])].some((one) => isJson(one) && one.type === 'ByteLevel');
}

/** The byte of each character. Visible bytes have their own character, the others have the characters from 256 on. */
const BYTES = new Map<string, number>();
for (let byte = 0, hidden = 256; byte < 256; byte++) {
  const isVisible = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  BYTES.set(String.fromCharCode(isVisible ? byte : hidden++), byte);
}

const CHARACTERS = [...BYTES.keys()];

/** Returns the result of `use`. Throws BrokenModel if `use` throws. */
export function usingTokenizer<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw new BrokenModel('tokenizer', `tokenizer.json can't be used: ${firstLineOf(error)}`);
  }
}

/** Removes the merge rules. They take most of a tokenizer's memory, and decoding does not need them. */
function withoutMerges(tokenizer: Json): Json {
  const { model } = tokenizer;
  return isJson(model) ? { ...tokenizer, model: { ...model, merges: [] } } : tokenizer;
}
