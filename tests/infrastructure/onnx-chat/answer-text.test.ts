import fc from 'fast-check';
import { AnswerText } from '../../../src/infrastructure/onnx-chat/worker/answer-text.js';
import { readModelFiles } from '../../../src/infrastructure/onnx-chat/worker/model-files.js';
import { Prompts } from '../../../src/infrastructure/onnx-chat/worker/prompts.js';
import { Vocabulary } from '../../../src/infrastructure/onnx-chat/worker/tokenizers.js';
import { tinyChat } from '../../support/onnx/model-folders.js';

const files = readModelFiles(tinyChat);
const byteLevel = new Vocabulary(files);

// As in Llama's vocabulary, a space belongs to the next token, and each byte has a token.
const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
const pieces = [...bytes, '▁', '▁Paris', 'Paris', '▁▁', 'é', '日', ' ', 'a'];
const sentencePiece = new Vocabulary({
  ...files,
  tokenizer: {
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        { type: 'Strip', content: ' ', start: 1, stop: 0 },
      ],
    },
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      merges: [],
      byte_fallback: true,
    },
  },
});

/** Returns the part of the text that is ready after each token, and after the end. */
function sent(vocabulary: Vocabulary, tokens: readonly number[], { cut = false, stop = [] as readonly string[] } = {}) {
  const text = new AnswerText({ decode: (some) => vocabulary.decode(some), stop });
  const parts: string[] = [];
  for (const token of tokens) {
    if (text.stopped) break;
    text.add(token);
    parts.push(text.take().text);
  }
  text.end(cut);
  return { parts: [...parts, text.take().text], stopped: text.stopped };
}

const models = [
  ['a byte-level tokenizer', byteLevel, 506],
  ['a tokenizer of pieces and bytes', sentencePiece, pieces.length],
] as const;

describe.each(models)('the text of %s', (_, vocabulary, size) => {
  const byteTokens = byteTokensOf(vocabulary);
  const some = fc.oneof(
    fc.nat(size - 1),
    fc.constantFrom(...Buffer.from('naïve 日本 👩‍👧 A\uFFFD.')).map((byte) => byteTokens[byte] as number),
  );
  const tokens = fc.array(some, { maxLength: 40 });

  it('equals the text of all tokens together, for any tokens', () => {
    fc.assert(
      fc.property(tokens, fc.boolean(), (some, cut) => {
        const whole = vocabulary.decode(some);
        expect(sent(vocabulary, some, { cut }).parts.join('')).toBe(cut ? whole.replace(/\uFFFD$/, '') : whole);
      }),
      { numRuns: 200 },
    );
  });

  it('comes in whole characters only', () => {
    const text = 'né 👩 é';
    const { parts } = sent(
      vocabulary,
      [...Buffer.from(text)].map((byte) => byteTokens[byte] as number),
    );
    expect(parts).toEqual(['n', '', 'é', ' ', '', '', '', '👩', ' ', '', 'é', '']);
    const [first] = sent(vocabulary, [byteTokens[0xc3] as number], { cut: true }).parts;
    expect([first, sent(vocabulary, [byteTokens[0xc3] as number]).parts.at(-1)]).toEqual(['', '\uFFFD']);
  });
});

describe('the tokens of a text', () => {
  const tokensOf = (some: readonly number[], stop: readonly string[] = []) => {
    const text = new AnswerText({ decode: (ids) => byteLevel.decode(ids), stop });
    const parts = some.map((id) => {
      if (!text.stopped) text.add(id, { token: String(id), bytes: [], logprob: 0, top: [] });
      return text.take();
    });
    text.end(true);
    return [...parts, text.take()].map(({ text, logprobs = [] }) => [
      text,
      ...logprobs.map(({ token }) => Number(token)),
    ]);
  };
  const byteTokens = byteTokensOf(byteLevel);
  const ids = [...Buffer.from('aé.b')].map((byte) => byteTokens[byte] as number);
  const [a, first, second, dot, b] = ids;

  it('come with the part in which their text begins; the end has the rest', () => {
    expect(tokensOf(ids, ['.!'])).toEqual([['a', a], [''], ['é', first, second], [''], ['.b', dot, b], ['']]);
    expect(tokensOf(ids.slice(0, 2))).toEqual([['a', a], [''], ['', first]]);
  });

  it('are left out if a stop text cuts them off', () => {
    expect(tokensOf(ids, ['.b'])).toEqual([['a', a], [''], ['é', first, second], [''], [''], ['']]);
    const [word = 0] = [...new Array(506).keys()].filter((id) => byteLevel.decode([id]).length > 2);
    expect(tokensOf([a as number, word], [byteLevel.decode([word]).slice(1)])).toContainEqual([
      byteLevel.decode([word])[0],
      word,
    ]);
  });
});

it('the bytes of tokens are those of their text, however the text is split', () => {
  const text = '<|endoftext|>naïve 👩';
  const split = [...new Prompts(files).text.tokens(text)].flat();
  expect(Buffer.from(split.flatMap((id) => byteLevel.bytesOf(id))).toString()).toBe(text);
  const added = [...(files.tokenizer.added_tokens as object[]), { id: 600, content: '<é >' }];
  expect(
    new Vocabulary({ ...files, tokenizer: { ...files.tokenizer, added_tokens: added } }).bytesOf(600),
  ).toHaveLength(5);
  const ids = ['▁Paris', 'Paris', '<0xC3>', '<0xA9>', '▁▁'].map((piece) => pieces.indexOf(piece));
  expect(Buffer.from(ids.flatMap((id) => sentencePiece.bytesOf(id))).toString()).toBe(' ParisParisé  ');
  expect([byteLevel, sentencePiece].map((vocabulary) => vocabulary.bytesOf(9_999))).toEqual([[], []]);
});

describe('the stop texts', () => {
  const byteTokens = byteTokensOf(byteLevel);
  const letters = (text: string) => [...Buffer.from(text)].map((byte) => byteTokens[byte] as number);

  /** Returns the text before the first stop text. Adds one character after the other to find it. */
  function naive(text: string, stop: readonly string[]): string {
    for (let end = 1; end <= text.length; end++) {
      const found = stop.filter((one) => text.slice(0, end).endsWith(one)).map(({ length }) => length);
      if (found.length > 0) return text.slice(0, end - Math.max(...found));
    }
    return text;
  }

  it('end the answer before the first of them, and no part of them is ever sent', () => {
    const word = (least: number, most: number) =>
      fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: least, maxLength: most });
    fc.assert(
      fc.property(word(0, 30), fc.array(word(1, 5), { minLength: 1, maxLength: 4 }), (text, stop) => {
        const expected = naive(text, stop);
        const { parts, stopped } = sent(byteLevel, letters(text), { stop });
        expect(parts.join('')).toBe(expected);
        expect(stopped).toBe(expected !== text);
      }),
      { numRuns: 300 },
    );
  });

  it('delay only text that may be the beginning of one', () => {
    expect(sent(byteLevel, letters('xaab.'), { stop: ['aac', 'b!'] }).parts).toEqual(['x', '', '', 'aa', 'b.', '']);
  });

  it('are searched in linear time', () => {
    const stop = [`${'a'.repeat(20_000)}b`, 'c'];
    const begun = process.cpuUsage();
    expect(sent(byteLevel, letters('a'.repeat(19_000)), { stop }).parts.join('')).toHaveLength(19_000);
    expect(process.cpuUsage(begun).user).toBeLessThan(3_000_000);
  });
});

/** Returns the token of each byte. */
function byteTokensOf(vocabulary: Vocabulary): number[] {
  const found: number[] = [];
  for (let token = 0; token < 256; token++) found[vocabulary.bytesOf(token)[0] as number] = token;
  return found;
}
