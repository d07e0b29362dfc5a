import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encoder } from '../../tests/support/onnx/encoder.js';
import { tinyEmbed } from '../../tests/support/onnx/model-folders.js';

const size = { vocabulary: 2_048, hidden: 384, layers: 6, heads: 12, inner: 1_536, context: 512 };

/** Writes a model of the size of all-MiniLM-L6 with random weights. The rest is that of tiny-embed. */
export function makeEncoder(folder: string): void {
  cpSync(tinyEmbed, folder, { recursive: true });
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  writeFileSync(join(folder, 'onnx', 'model.onnx'), encoder(size));
}
