import { Tokenizer } from '@huggingface/tokenizers';
import { type Json, readModelFiles } from '../../../src/infrastructure/onnx-chat/worker/model-files.js';
import { SectionTokenizer } from '../../../src/infrastructure/onnx-chat/worker/tokenizers.js';
import { tinyChat } from '../../support/onnx/model-folders.js';

describe('a text that is read section by section', () => {
  const { tokenizer: tiny, tokenizerConfig: config } = readModelFiles(tinyChat);
  const words = ['<unk>', '▁', '▁blue', 'b', 'l', 'u', 'e', 'r', 'i', 'v', '▁ri', 'ver'];
  const metaspace = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: false };
  const tokenizer: Json = {
    ...tiny,
    pre_tokenizer: metaspace,
    model: { type: 'Unigram', unk_id: 0, vocab: words.map((word, i) => [word, -i]) },
  };
  const sections = new SectionTokenizer(tokenizer, config);
  const idsOf = (...some: string[]) => some.map((word) => words.indexOf(word));

  it('gets the leading space of the tokenizer only in its first section', () => {
    const whole = new Tokenizer(tokenizer, config).encode('blue river', { add_special_tokens: false }).ids;
    expect(sections.encode('blue river', 0)).toEqual(whole);
    expect(sections.encode('blue river', 1)).toEqual(idsOf('b', 'l', 'u', 'e', '▁ri', 'ver'));
    expect(sections.encode('blue river', 0)).toEqual(whole);
  });

  it('has the token for unknown words, if the model has one', () => {
    expect(sections.unknown).toBe(0);
    expect(sections.encode('?', 1)).toEqual([0]);
    expect(new SectionTokenizer(tiny, config).unknown).toBeUndefined();
  });
});
