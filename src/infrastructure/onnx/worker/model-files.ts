import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BrokenModel, wordsOf } from './broken-model.js';

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
}

/** Throws BrokenModel. */
export function readModelFiles(folder: string): ModelFiles {
  const config = required('configuration', folder, 'config.json');
  const generationConfig = json('generation configuration', folder, 'generation_config.json') ?? {};
  const tokenizer = required('tokenizer', folder, 'tokenizer.json');
  const tokenizerConfig = required('tokenizer configuration', folder, 'tokenizer_config.json');
  const template = templateOf(folder, tokenizerConfig);
  return { folder, config, generationConfig, tokenizer, tokenizerConfig, template, weights: weightsOf(folder) };
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

/** `model.onnx`, or where an export has only variants of it (quantized, half precision), the first by name. */
function weightsOf(folder: string): string {
  const names = attempt('weights', 'onnx', () => readdirSync(join(folder, 'onnx'))) ?? [];
  const [first] = names.filter((name) => /^model.*\.onnx$/.test(name)).sort();
  if (!first) throw new BrokenModel('weights', 'onnx/model.onnx is missing');
  return names.includes('model.onnx') ? 'onnx/model.onnx' : `onnx/${first}`;
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
    throw new BrokenModel(part, `${file} is not valid JSON: ${wordsOf(error)}`);
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
