/** Reads the folder of an embedding model in the layout of Hugging Face's ONNX exports and of sentence-transformers. */
import { join } from 'node:path';
import {
  anyJson,
  BrokenModel,
  exists,
  isJson,
  type Json,
  json,
  lengthIn,
  required,
  weightsIn,
} from '../model-files.js';

const POOLING = '1_Pooling';

/** The way in which the vectors of all tokens become one: their mean, or the vector of the first or of the last token. */
type Pooling = 'mean' | 'cls' | 'last_token';

export interface EmbeddingFiles {
  readonly folder: string;
  /** The file of the weights, relative to the folder. */
  readonly weights: string;
  /** The most tokens of a text, with the special tokens. */
  readonly context: number;
  readonly tokenizer: Json;
  readonly tokenizerConfig: Json;
  readonly pooling: Pooling;
  /** Scales each vector to the length 1. */
  readonly normalize: boolean;
  /** The name of an unknown module, or null. Allowed only if the network has the output `sentence_embedding`. */
  readonly otherModule: string | null;
}

/**
 * Returns whether a folder has an embedding model. Such a folder has the modules of sentence-transformers, or its
 * configuration names a network without a head, such as `BertModel`.
 */
export function embeds(folder: string): boolean {
  if (exists(folder, 'modules.json') || exists(folder, join(POOLING, 'config.json'))) return true;
  const names = readOrNull(folder)?.architectures;
  if (!Array.isArray(names) || names.length === 0) return false;
  return names.every((name) => typeof name === 'string' && /Model$/.test(name) && !/LMHeadModel$/.test(name));
}

function readOrNull(folder: string): Json | null {
  try {
    return json('configuration', folder, 'config.json');
  } catch {
    return null; // `readModelFiles` reports the error
  }
}

/** These networks number positions from the id of the padding token plus 1. */
const OFFSET_TYPES = ['roberta', 'xlm-roberta', 'camembert', 'mpnet'];

/** Reads the folder. `wanted` is as for `weightsIn`. Throws BrokenModel. */
export function readEmbeddingFiles(folder: string, wanted: string | null = null): EmbeddingFiles {
  const config = required('configuration', folder, 'config.json');
  const tokenizer = required('tokenizer', folder, 'tokenizer.json');
  const tokenizerConfig = required('tokenizer configuration', folder, 'tokenizer_config.json');
  const sentences = json('configuration', folder, 'sentence_bert_config.json') ?? {};
  const padding = Number.isSafeInteger(config.pad_token_id) ? Number(config.pad_token_id) : 1;
  const offset = OFFSET_TYPES.includes(String(config.model_type)) ? padding + 1 : 0;
  const positions = lengthIn(config.max_position_embeddings);
  const lengths = [
    positions && positions - offset,
    lengthIn(tokenizerConfig.model_max_length),
    lengthIn(sentences.max_seq_length),
  ].filter((length) => length !== null);
  if (lengths.length === 0)
    throw new BrokenModel('configuration', 'config.json names no max_position_embeddings: the context is unknown');
  const { weights } = weightsIn(folder, wanted);
  return { folder, weights, context: Math.min(...lengths), tokenizer, tokenizerConfig, ...modulesOf(folder) };
}

/** Reads modules.json. Without this file, vectors are pooled but not normalized, as in sentence-transformers. */
function modulesOf(folder: string): Pick<EmbeddingFiles, 'pooling' | 'normalize' | 'otherModule'> {
  const file = 'modules.json';
  const modules = anyJson('modules', folder, file) ?? [];
  const isModule = (one: unknown): one is Json & { type: string } => isJson(one) && typeof one.type === 'string';
  if (!Array.isArray(modules) || !modules.every(isModule))
    throw new BrokenModel('modules', `${file} is not a list of modules`);
  const kinds = modules.map(({ type, path }) => ({
    kind: type.split('.').at(-1) ?? '',
    path: typeof path === 'string' ? path : '',
  }));
  const known = ['Transformer', 'Pooling', 'Normalize'];
  return {
    pooling: poolingOf(folder, kinds.find(({ kind }) => kind === 'Pooling')?.path ?? POOLING),
    normalize: kinds.some(({ kind }) => kind === 'Normalize'),
    otherModule: kinds.find(({ kind }) => !known.includes(kind))?.kind ?? null,
  };
}

const MODES: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_cls_token: 'cls',
  pooling_mode_lasttoken: 'last_token',
};

/** Reads the pooling. Returns the mean if the folder has no configuration of it. */
function poolingOf(folder: string, path: string): Pooling {
  if (!/^\w[\w.-]*$/.test(path)) throw new BrokenModel('pooling', 'modules.json names a folder outside the model');
  const file = `${path}/config.json`;
  const config = json('pooling', folder, file);
  if (!config) return 'mean';
  const [mode, ...others] = Object.keys(config).filter((name) => /^pooling_mode_/.test(name) && config[name] === true);
  const pooling = MODES[mode ?? ''];
  if (pooling && others.length === 0) return pooling;
  const names = Object.keys(MODES).join(', ');
  throw new BrokenModel('pooling', `${file} must set one of ${names}; other modes are not supported`);
}
