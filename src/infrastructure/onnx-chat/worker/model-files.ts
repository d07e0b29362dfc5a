/** Reads a model folder in the layout of Hugging Face's ONNX exports. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { firstLineOf } from '../../onnx/onnx-runtime.js';

/** The model can't be used. The message names the part and its file, for the person who repairs the model. */
export class BrokenModel extends Error {
  constructor(part: string, problem: string) {
    super(`${part}: ${problem}`);
  }
}

export type Json = Readonly<Record<string, unknown>>;

// Each thread of a worker reads these files. A schema library would take longer to load than most models.
// Some exporters leave fields out or write values of another type. Such a value counts as missing.

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const lengthIn = (value: unknown): number | null =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : null;

/** Reads one number or a list of numbers. */
function tokenIdsIn(value: unknown): number[] {
  const ids = [value].flat();
  return ids.every((id) => Number.isSafeInteger(id)) ? (ids as number[]) : [];
}

/** Reads a special token: a string, or an object with a string. */
function specialTokenIn(value: unknown): string | null {
  const text = isJson(value) ? value.content : value;
  return typeof text === 'string' ? text : null;
}

/** Reads the chat template with this name from a list of templates, or the only template. */
function templateIn(value: unknown, name = 'default'): string | null {
  const isWanted = (one: unknown): one is Json => isJson(one) && one.name === name;
  const text = Array.isArray(value) ? value.find(isWanted)?.template : value;
  return typeof text === 'string' ? text : null;
}

export interface ModelFiles {
  readonly folder: string;
  /** The file of the weights, relative to the folder. */
  readonly weights: string;
  /** Bytes of the weights, with their external data files. */
  readonly weightBytes: number;
  /** Tokens that prompt and answer may have together. */
  readonly context: number;
  /** The tokens that end an answer, if the configurations name them by number. */
  readonly stopIds: readonly number[];
  readonly tokenizer: Json;
  readonly tokenizerConfig: Json;
  /** The special tokens that have a name, such as `eos_token`. */
  readonly namedTokens: Readonly<Record<string, string>>;
  /** The other special tokens of the tokenizer's configuration. */
  readonly additionalTokens: readonly string[];
  /** Some models have another template for messages `withTools`. */
  readonly template: { readonly text: string; readonly file: string; readonly withTools?: string };
}

/** Reads the folder. `wanted` is as for `weightsIn`. Throws BrokenModel. */
export function readModelFiles(folder: string, wanted: string | null = null): ModelFiles {
  const config = required('configuration', folder, 'config.json');
  const generation = json('generation configuration', folder, 'generation_config.json') ?? {};
  const tokenizer = required('tokenizer', folder, 'tokenizer.json');
  const tokenizerConfig = required('tokenizer configuration', folder, 'tokenizer_config.json');
  const { additional_special_tokens: additional } = tokenizerConfig;
  // A number above the safe integers means that the tokenizer sets no limit.
  const context = lengthIn(config.max_position_embeddings) ?? lengthIn(tokenizerConfig.model_max_length);
  if (context === null)
    throw new BrokenModel('configuration', 'config.json names no max_position_embeddings: the context is unknown');
  return {
    folder,
    ...weightsIn(folder, wanted),
    context,
    stopIds: [...tokenIdsIn(generation.eos_token_id), ...tokenIdsIn(config.eos_token_id)],
    tokenizer,
    tokenizerConfig,
    namedTokens: namedTokensOf(tokenizerConfig),
    additionalTokens: (Array.isArray(additional) ? additional : [])
      .map(specialTokenIn)
      .filter((token) => token !== null),
    template: templateOf(folder, tokenizerConfig),
  };
}

function namedTokensOf(tokenizerConfig: Json): Record<string, string> {
  const named = Object.entries(tokenizerConfig).filter(([name]) => /^[a-z]+_token$/.test(name));
  const tokens = named.map(([name, token]) => [name, specialTokenIn(token)]);
  return Object.fromEntries(tokens.filter(([, token]) => token !== null));
}

function templateOf(folder: string, tokenizerConfig: Json): ModelFiles['template'] {
  const own = textOf('chat template', folder, 'chat_template.jinja');
  if (own !== null) return { text: own, file: 'chat_template.jinja' };
  const file = 'tokenizer_config.json';
  const text = templateIn(tokenizerConfig.chat_template);
  const withTools = templateIn(tokenizerConfig.chat_template, 'tool_use');
  if (text !== null) return { text, file, ...(withTools !== null && withTools !== text && { withTools }) };
  const isAbsent = tokenizerConfig.chat_template === undefined;
  const problem = isAbsent ? `there is no chat_template.jinja and ${file} has none` : `${file} has no default`;
  throw new BrokenModel('chat template', problem);
}

/** The suffixes of file names that differ from the name of the variant. */
const SUFFIXES: Readonly<Record<string, string>> = { fp32: '', q8: '_quantized' };

/**
 * Finds the file of the weights. `wanted` is a variant (`q4`, `fp16`) or the name of a file. For null, finds
 * `model.onnx`, or else the first variant by name. Accepts only files that the folder lists, so no name can lead
 * elsewhere.
 */
export function weightsIn(folder: string, wanted: string | null): Pick<ModelFiles, 'weights' | 'weightBytes'> {
  const files = (attempt('weights', 'onnx', () => readdirSync(join(folder, 'onnx'))) ?? []).sort();
  const names = files.filter((name) => name.endsWith('.onnx'));
  const first = names.find((name) => name.startsWith('model')) ?? 'model.onnx';
  const usual = names.includes('model.onnx') ? 'model.onnx' : first;
  const variant = (name: string) => (name.endsWith('.onnx') ? name : `model${SUFFIXES[name] ?? `_${name}`}.onnx`);
  const name = wanted === null ? usual : variant(wanted);
  if (!names.includes(name)) {
    const others = names.length > 0 ? `; there are ${names.join(', ')}` : '';
    throw new BrokenModel('weights', `onnx/${name} is missing${others}`);
  }
  const parts = files.filter((file) => file.startsWith(name)).map((file) => `onnx/${file}`);
  const sizes = parts.map((file) => attempt('weights', file, () => statSync(join(folder, file)).size) ?? 0);
  return { weights: `onnx/${name}`, weightBytes: sizes.reduce((sum, size) => sum + size, 0) };
}

export function required(part: string, folder: string, file: string): Json {
  const value = json(part, folder, file);
  if (!value) throw new BrokenModel(part, `${file} is missing`);
  return value;
}

/** Returns null if there is no such file. Throws BrokenModel unless it is a JSON object. */
export function json(part: string, folder: string, file: string): Json | null {
  const value = anyJson(part, folder, file);
  if (value === undefined) return null;
  if (!isJson(value)) throw new BrokenModel(part, `${file} is not a JSON object`);
  return value;
}

/** Returns undefined if there is no such file. Throws BrokenModel unless it is JSON. */
export function anyJson(part: string, folder: string, file: string): unknown {
  const text = textOf(part, folder, file);
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BrokenModel(part, `${file} is not valid JSON: ${firstLineOf(error)}`);
  }
}

export const exists = (folder: string, file: string): boolean => existsSync(join(folder, file));

const textOf = (part: string, folder: string, file: string): string | null =>
  attempt(part, file, () => readFileSync(join(folder, file), 'utf8'));

/** Returns null if there is no such file. */
function attempt<T>(part: string, file: string, read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new BrokenModel(part, `${file} can't be read (${code})`);
  }
}
