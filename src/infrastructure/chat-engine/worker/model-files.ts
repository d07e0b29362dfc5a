import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { firstLineOf } from '../../onnx/native-errors.js';
import { BrokenModel } from './broken-model.js';

export type Json = Readonly<Record<string, unknown>>;

/** A model folder in the layout of Hugging Face's ONNX exports, read but not yet understood. */
export interface ModelFiles {
  readonly folder: string;
  readonly config: Json;
  /** Empty where the folder has none. */
  readonly generationConfig: Json;
  readonly tokenizer: Json;
  readonly tokenizerConfig: Json;
  readonly template: { readonly text: string; readonly file: string };
  /** Relative to the folder. */
  readonly weights: string;
  /** Of all its files: the larger ones are split. */
  readonly weightBytes: number;
}

/** `weights`: which of several, as `weightsOf` takes it. Throws BrokenModel. */
export function readModelFiles(folder: string, weights: string | null = null): ModelFiles {
  const config = required('configuration', folder, 'config.json');
  const generationConfig = json('generation configuration', folder, 'generation_config.json') ?? {};
  const tokenizer = required('tokenizer', folder, 'tokenizer.json');
  const tokenizerConfig = required('tokenizer configuration', folder, 'tokenizer_config.json');
  const template = templateOf(folder, tokenizerConfig);
  const found = weightsOf(folder, weights);
  const weightBytes = bytesOf(folder, found);
  return { folder, config, generationConfig, tokenizer, tokenizerConfig, template, weights: found, weightBytes };
}

function templateOf(folder: string, { chat_template: given }: Json): ModelFiles['template'] {
  const text = textOf('chat template', folder, 'chat_template.jinja');
  if (text !== null) return { text, file: 'chat_template.jinja' };
  const file = 'tokenizer_config.json';
  const named = Array.isArray(given) ? given : [{ name: 'default', template: given }];
  const [first] = named.filter((one) => one?.name === 'default');
  if (typeof first?.template === 'string') return { text: first.template, file };
  const missing =
    given === undefined ? `there is no chat_template.jinja and ${file} has none` : `${file} has no default`;
  throw new BrokenModel('chat template', missing);
}

/** What exporters append to the names of variants, where it isn't the name of the variant itself. */
const SUFFIXES: Readonly<Record<string, string>> = { fp32: '', q8: '_quantized' };

/**
 * The wanted variant (`q4`, `fp16`), or the file of that name. Without a wish `model.onnx`, or where an export has only
 * variants of it, the first by name.
 */
function weightsOf(folder: string, wanted: string | null): string {
  const names = (attempt('weights', 'onnx', () => readdirSync(join(folder, 'onnx'))) ?? []).filter((name) =>
    name.endsWith('.onnx'),
  );
  const [first = 'model.onnx'] = names.filter((name) => name.startsWith('model')).sort();
  const usual = names.includes('model.onnx') ? 'model.onnx' : first;
  const name =
    wanted === null ? usual : wanted.endsWith('.onnx') ? wanted : `model${SUFFIXES[wanted] ?? `_${wanted}`}.onnx`;
  // Only what the folder lists is opened: a wish can't lead out of it.
  if (names.includes(name)) return `onnx/${name}`;
  throw new BrokenModel(
    'weights',
    `onnx/${name} is missing${names.length > 0 ? `; there are ${names.sort().join(', ')}` : ''}`,
  );
}

function bytesOf(folder: string, weights: string): number {
  const files = attempt('weights', 'onnx', () => readdirSync(join(folder, 'onnx'))) ?? [];
  const own = files.map((name) => `onnx/${name}`).filter((file) => file.startsWith(weights));
  return own.reduce((sum, file) => sum + (attempt('weights', file, () => statSync(join(folder, file)).size) ?? 0), 0);
}

function required(part: string, folder: string, file: string): Json {
  const value = json(part, folder, file);
  if (!value) throw new BrokenModel(part, `${file} is missing`);
  return value;
}

function json(part: string, folder: string, file: string): Json | null {
  const text = textOf(part, folder, file);
  if (text === null) return null;
  const value = parsed(part, file, text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw new BrokenModel(part, `${file} is not a JSON object`);
}

function parsed(part: string, file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BrokenModel(part, `${file} is not valid JSON: ${firstLineOf(error)}`);
  }
}

const textOf = (part: string, folder: string, file: string): string | null =>
  attempt(part, file, () => readFileSync(join(folder, file), 'utf8'));

/** Null where there is no such file. */
function attempt<T>(part: string, file: string, read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new BrokenModel(part, `${file} can't be read (${code})`);
  }
}
