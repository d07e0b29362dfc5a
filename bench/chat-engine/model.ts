import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tinyChat, withFields, withoutEnd } from '../../tests/support/onnx/model-folders.js';
import { transformer } from '../../tests/support/onnx/transformer.js';

const size = { vocabulary: 8_192, hidden: 512, layers: 8, heads: 8, kvHeads: 4, inner: 1_408, context: 2_048 };

/** Writes a model of 32 million random weights with the tokens of tiny-chat. It never ends an answer by itself. */
export function makeModel(folder: string): void {
  cpSync(tinyChat, folder, { recursive: true });
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  writeFileSync(join(folder, 'onnx', 'model.onnx'), transformer({ ...size, attention: 'plain' }));
  const config = withFields({
    vocab_size: size.vocabulary,
    hidden_size: size.hidden,
    intermediate_size: size.inner,
    num_hidden_layers: size.layers,
    num_attention_heads: size.heads,
    num_key_value_heads: size.kvHeads,
    head_dim: size.hidden / size.heads,
    max_position_embeddings: size.context,
  });
  const changes = {
    ...withoutEnd,
    'config.json': (text: string) => withoutEnd['config.json'](config(text)),
    'generation_config.json': withFields({ eos_token_id: undefined }),
    'tokenizer_config.json': (text: string) =>
      withoutEnd['tokenizer_config.json'](withFields({ model_max_length: size.context })(text)),
    'tokenizer.json': withMoreWords,
  };
  for (const [file, change] of Object.entries(changes)) {
    const path = join(folder, file);
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }
}

/** Adds texts to the tokenizer until every token of the model has one. */
function withMoreWords(text: string): string {
  const tokenizer = JSON.parse(text);
  const { vocab } = tokenizer.model;
  for (let id = Object.keys(vocab).length + tokenizer.added_tokens.length; id < size.vocabulary; id++)
    vocab[`Ġw${id}`] = id;
  return JSON.stringify(tokenizer);
}
