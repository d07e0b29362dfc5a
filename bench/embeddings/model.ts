import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encoder } from '../../tests/support/onnx/encoder.js';
import { tinyEmbed } from '../../tests/support/onnx/model-folders.js';

const size = { vocabulary: 2_048, hidden: 384, layers: 6, heads: 12, inner: 1_536, context: 512 };

export const poolings = ['mean', 'cls', 'lasttoken'] as const;
const fields = { mean: 'mean_tokens', cls: 'cls_token', lasttoken: 'lasttoken' } as const;

/** Writes a model of the size of all-MiniLM-L6 with random weights and the tokens of tiny-embed. */
export function makeEncoder(folder: string, pooling: (typeof poolings)[number], normalize: boolean): void {
  cpSync(tinyEmbed, folder, { recursive: true });
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  writeFileSync(join(folder, 'onnx', 'model.onnx'), encoder(size));
  const modules = ['Transformer', 'Pooling', ...(normalize ? ['Normalize'] : [])];
  const types = modules.map((name, i) => ({
    path: i ? `${i}_${name}` : '',
    type: `sentence_transformers.models.${name}`,
  }));
  writeFileSync(join(folder, 'modules.json'), JSON.stringify(types));
  writeFileSync(
    join(folder, '1_Pooling', 'config.json'),
    JSON.stringify({ [`pooling_mode_${fields[pooling]}`]: true }),
  );
}
