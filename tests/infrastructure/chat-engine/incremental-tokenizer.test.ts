import { Tokenizer } from '@huggingface/tokenizers';
import { type Json, readModelFiles } from '../../../src/infrastructure/chat-engine/worker/model-files.js';
import { IncrementalTokenizer } from '../../../src/infrastructure/chat-engine/worker/tokenizers.js';
import { tinyChat } from '../../support/onnx/model-folders.js';

const { tokenizer: tiny, tokenizerConfig: config } = readModelFiles(tinyChat);
const words = [
  'blue',
  'river',
  'naïve',
  '日本語日本語',
  '👩‍👩‍👧',
  '12345',
  "it's",
  'e\u0301',
  '<think>',
  '\n\n',
  '  ',
  'UPPER',
  '#',
];
const some = (count: number) => Array.from({ length: count }, (_, i) => words[(i * i + 3) % words.length]).join(' ');
/** The long texts take several pieces. */
const long = [some(700), 'x'.repeat(2_500), ' '.repeat(2_500), '!?'.repeat(1_250)];
const texts = [...long, 'Hi', '', ' Hi<think>you ', '<think>'];

/** Returns tiny-chat's tokenizer with other fields. */
const like = (fields: Json, model: Json = {}): Json => ({
  ...tiny,
  model: { ...(tiny.model as object), ...model },
  ...fields,
});
const added = (over: object) => [
  ...(tiny.added_tokens as object[]),
  {
    id: 97,
    content: '<think>',
    special: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    single_word: false,
    ...over,
  },
];
const unigram = {
  type: 'Unigram',
  unk_id: 0,
  vocab: ['<unk>', '▁', '▁blue', 'b', 'l', 'u', 'e', 'r', 'i', 'v', '▁ri', 'ver'].map((word, i) => [word, -i]),
};
const wordPiece = {
  type: 'WordPiece',
  unk_token: '[UNK]',
  continuing_subword_prefix: '##',
  vocab: Object.fromEntries(['[UNK]', 'blue', 'r', '##iver', '##i', 'h', '!', '?'].map((word, i) => [word, i])),
};
const finishing = (...single: object[]) => ({ type: 'TemplateProcessing', single, pair: [], special_tokens: {} });
const text = { Sequence: { id: 'A', type_id: 0 } };
const special = { SpecialToken: { id: '<|endoftext|>', type_id: 0 } };
const metaspace = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: false };

describe('a text taken piece by piece', () => {
  it.each<[string, Json]>([
    ['as it is', tiny],
    ['with added tokens', like({ added_tokens: added({}) })],
    ['with added tokens that take white space', like({ added_tokens: added({ lstrip: true, rstrip: true }) })],
    ['with a normalizer', like({ added_tokens: added({ normalized: true }), normalizer: { type: 'Lowercase' } })],
    ['without words', like({ pre_tokenizer: null })],
    [
      'with words unknown to the model',
      like({}, { unk_token: '!', byte_fallback: false, vocab: { '!': 0, b: 1 }, merges: [] }),
    ],
    [
      'with unknown words that are one',
      like({}, { unk_token: '!', fuse_unk: true, vocab: { '!': 0, b: 1 }, merges: [] }),
    ],
    ['with a model of another kind', like({ pre_tokenizer: metaspace, model: unigram })],
    ['with a model of a third kind', like({ pre_tokenizer: { type: 'BertPreTokenizer' }, model: wordPiece })],
    ['with special tokens around it', like({ post_processor: finishing(special, text) })],
    ['with the text twice', like({ post_processor: finishing(text, special, text) })],
  ])('has the tokens that it has as a whole, by tiny-chat’s tokenizer %s', (_, tokenizer) => {
    const whole = new Tokenizer(tokenizer, config);
    const piecewise = new IncrementalTokenizer(tokenizer, config);
    for (const one of texts) {
      const { ids } = whole.encode(one, { add_special_tokens: false });
      expect([...piecewise.encode(one, 0)].flat()).toEqual(ids);
    }
  });

  it('comes in pieces, none of them large', () => {
    const pieces = [...new IncrementalTokenizer(tiny, config).encode(some(3_000), 0)];
    expect(pieces.length).toBeGreaterThan(10);
    for (const { length } of pieces) expect(length).toBeLessThan(1_200);
  });

  it('keeps apart from another that is taken at the same time', () => {
    const tokenizer = new IncrementalTokenizer(like({ pre_tokenizer: metaspace, model: unigram }), config);
    const alone = [0, 1].map((section) => [...tokenizer.encode('blue river', section)].flat());
    expect(alone[0]).not.toEqual(alone[1]);
    const both = [0, 1].map((section) => ({
      section,
      pieces: tokenizer.encode('blue river', section),
      ids: [] as unknown[],
    }));
    for (let left = both; left.length > 0; )
      left = left.filter((one) => {
        const { done, value } = one.pieces.next();
        if (!done) one.ids.push(...value);
        return !done;
      });
    expect(both.map(({ ids }) => ids)).toEqual(alone);
  });
});
