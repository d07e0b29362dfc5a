/** Makes `models/tiny-embed`, the embedding model that ships with the service. `npm run tiny-embed` writes it again. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GraphWriter } from '../tests/support/onnx/graph-writer.js';
import { FLOAT, INT8, INT64, onnxFile } from '../tests/support/onnx/onnx-graph.js';
import { SeededChance } from '../tests/support/onnx/seeded-chance.js';
import { topics, weakWords } from './tiny-embed/words.js';

const DIMENSIONS = 48;
const CONTEXT = 512;
const FOLDER = join(process.cwd(), 'models', 'tiny-embed');

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const marks = [...'0123456789.,;:!?\'"()[]{}<>/\\|@#$%^&*-_=+~`'];
const endings = ['s', 'es', 'ed', 'ing', 'er', 'ly', "'"];

interface Piece {
  readonly text: string;
  readonly vector: readonly number[];
}

/** Returns the tokens. Words of one topic are near each other. Rare words are pairs of letters with random vectors. */
function pieces(): Piece[] {
  const chance = new SeededChance(48);
  const random = (length: number) => {
    const values = Array.from({ length: DIMENSIONS }, () => chance.next() + chance.next() + chance.next() - 1.5);
    const norm = Math.hypot(...values);
    return values.map((value) => (length * value) / norm);
  };
  const near = (centre: readonly number[]) => random(0.6).map((value, i) => value + (centre[i] as number));
  const all = new Map<string, readonly number[]>();
  const add = (text: string, vector: readonly number[]) => {
    if (!all.has(text)) all.set(text, vector);
  };
  const nothing = new Array<number>(DIMENSIONS).fill(0);
  for (const special of ['[PAD]', '[UNK]', '[CLS]', '[SEP]']) add(special, nothing);
  for (const words of Object.values(topics)) {
    const centre = random(1);
    for (const word of words.split(' ')) add(word, near(centre));
  }
  for (const word of weakWords.split(' ')) add(word, random(0.1));
  for (const ending of endings) add(`##${ending}`, random(0.1));
  for (const mark of marks) for (const text of [mark, `##${mark}`]) add(text, random(0.15));
  for (const one of letters) {
    const parts = ['', ...letters].map((other) => one + other);
    for (const part of parts) for (const text of [part, `##${part}`]) add(text, random(0.5));
  }
  return [...all].map(([text, vector]) => ({ text, vector }));
}

class Network extends GraphWriter {
  /** Adds half of the attention's output to the vector of each token. */
  file(vectors: readonly (readonly number[])[]): Buffer {
    const largest = Math.max(...vectors.flat().map(Math.abs));
    const whole = vectors.flat().map((value) => Math.round((127 * value) / largest));
    const table = this.constant(INT8, whole, [vectors.length, DIMENSIONS]);
    const words = this.op('Cast', [this.op('Gather', [table, 'input_ids'])], { to: FLOAT });
    const states = this.op('Mul', [words, this.constant(FLOAT, [largest / 127])]);
    const unseen = this.op('Sub', [this.op('Cast', ['attention_mask'], { to: FLOAT }), this.constant(FLOAT, [1])]);
    const mask = this.op('Mul', [this.op('Unsqueeze', [unseen, this.integers(1)]), this.constant(FLOAT, [1e9])]);
    const products = this.op('MatMul', [states, this.op('Transpose', [states], { perm: [0, 2, 1] })]);
    const shares = this.op('Softmax', [this.op('Add', [products, mask])], { axis: -1 });
    const seen = this.op('Mul', [this.op('MatMul', [shares, states]), this.constant(FLOAT, [0.5])]);
    this.op('Add', [states, seen], {}, 'last_hidden_state');
    const ids = (name: string) => [name, INT64, ['batch', 'sequence']] as const;
    return onnxFile({
      inputs: [ids('input_ids'), ids('attention_mask')],
      outputs: [['last_hidden_state', FLOAT, ['batch', 'sequence', DIMENSIONS]]],
      nodes: this.nodes,
      constants: this.constants,
    });
  }
}

function tokenizer(vocabulary: readonly string[]): object {
  const id = (token: string) => vocabulary.indexOf(token);
  const special = (content: string) => {
    const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
    return { id: id(content), content, ...plain };
  };
  const ends = Object.fromEntries(
    ['[CLS]', '[SEP]'].map((token) => [token, { id: token, ids: [id(token)], tokens: [token] }]),
  );
  const [begin, text, end] = [
    { SpecialToken: { id: '[CLS]', type_id: 0 } },
    { Sequence: { id: 'A', type_id: 0 } },
    { SpecialToken: { id: '[SEP]', type_id: 0 } },
  ];
  const second = { Sequence: { id: 'B', type_id: 1 } };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: ['[PAD]', '[UNK]', '[CLS]', '[SEP]'].map(special),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [begin, text, end],
      pair: [begin, text, end, second, end],
      special_tokens: ends,
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocabulary.map((token, i) => [token, i])),
    },
  };
}

const README = `# tiny-embed

A toy embedding model, so that a first run and the tests have one. \`npm run tiny-embed\` makes all files of this folder; the
code is \`tools/tiny-embed.ts\`. Nothing was trained and no other model or data set was used.

Each token has a vector of ${DIMENSIONS} numbers. The vectors of some hundred English words are chosen at random around the centre
of their topic (\`tools/tiny-embed/words.ts\`, written by hand), so that texts about the same topic are near each other.
Other words consist of pairs of letters with random vectors, so that words with the same letters are near each other.
One step of attention mixes the vectors, and their mean has the length 1.

It shows how embeddings work. It understands nothing: do not use it for real searches.
`;

function main(): void {
  const all = pieces();
  const vocabulary = all.map(({ text }) => text);
  const write = (file: string, content: object | string | Buffer) => {
    const isText = typeof content === 'string' || Buffer.isBuffer(content);
    writeFileSync(join(FOLDER, file), isText ? content : `${JSON.stringify(content)}\n`);
  };
  for (const folder of ['onnx', '1_Pooling']) mkdirSync(join(FOLDER, folder), { recursive: true });
  write('onnx/model.onnx', new Network().file(all.map(({ vector }) => vector)));
  write('tokenizer.json', tokenizer(vocabulary));
  write('tokenizer_config.json', {
    tokenizer_class: 'BertTokenizer',
    do_lower_case: true,
    model_max_length: CONTEXT,
    pad_token: '[PAD]',
    unk_token: '[UNK]',
    cls_token: '[CLS]',
    sep_token: '[SEP]',
  });
  write('config.json', {
    architectures: ['BertModel'],
    model_type: 'bert',
    vocab_size: vocabulary.length,
    hidden_size: DIMENSIONS,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    intermediate_size: DIMENSIONS,
    max_position_embeddings: CONTEXT,
    pad_token_id: 0,
  });
  const modules = ['Transformer', 'Pooling', 'Normalize'].map((name, idx) => {
    const path = name === 'Transformer' ? '' : `${idx}_${name}`;
    return { idx, name: String(idx), path, type: `sentence_transformers.models.${name}` };
  });
  write('modules.json', modules);
  write('1_Pooling/config.json', { word_embedding_dimension: DIMENSIONS, pooling_mode_mean_tokens: true });
  write('README.md', README);
}

main();
