/**
 * Loads a chat model. Trial steps show whether the model can run batches, which padding its batches need, and whether
 * sequences can share a prefix. A model whose answers would depend on other calls gets neither batches nor prefixes.
 */
import { nativeMessageOf } from '../../onnx/onnx-runtime.js';
import type { LoadSettings } from '../protocol.js';
import { costsOf } from './batches.js';
import { Decoder, type Row, type Scores, type Step } from './decoder.js';
import { bytesPerToken, keysAndValues, nudged, type Padding, type Past } from './kv-cache.js';
import { BrokenModel, type ModelFiles, readModelFiles } from './model-files.js';
import { Scheduler } from './scheduler.js';
import { Vocabulary } from './tokenizers.js';

const usualSettings = { maxBatch: 16, kvBytes: 512 * 2 ** 20, cacheBytes: 256 * 2 ** 20 };

/** Scores count as equal up to this fraction of their range. Rounding changes them less, a wrong mask far more. */
const TOLERANCE = { float32: 1e-3, float16: 1e-2 };

/**
 * The limit for the effect that a tiny change of the cache has on scores, keys and values, as a fraction of the largest.
 * Measured with random weights: computing in 32 bits gives at most 2e-5 (1.5e-4 with a cache of 16 bits), in 16 bits at least 6e-4,
 * in 8 bits at least 3e-3. Keys and values of 16 bits change by 1e-3 from their own rounding.
 */
const CHANGE = { float32: 3e-4, float16: 4e-3 };

/** The length of the changed cache. */
const KNOWN = 8;

/** The number of keys and values that are compared. Fewer would not always show that a model rounds to 8 bits. */
const TRIED_NUMBERS = 15_360;

export interface LoadedModel {
  readonly files: ModelFiles;
  readonly settings: LoadSettings;
  readonly vocabulary: Vocabulary;
  readonly decoder: Decoder;
}

export interface ReadyModel {
  readonly scheduler: Scheduler;
  readonly maxBatch: number;
  /** Sequences share the KV cache of a common prefix. */
  readonly reuse: boolean;
  /** The most tokens of a prompt and its answer. */
  readonly context: number;
  readonly vocabulary: Vocabulary;
}

/** Throws BrokenModel. */
export async function loadModel(folder: string, threads: number, settings: LoadSettings): Promise<LoadedModel> {
  const files = readModelFiles(folder, settings.weights);
  const vocabulary = new Vocabulary(files);
  return { files, settings, vocabulary, decoder: await Decoder.load(files, threads) };
}

/**
 * Tries the model on the tokens of `sample`. Throws BrokenModel if the model does not run. A later trial that throws
 * counts as failed.
 */
export async function tryModel(model: LoadedModel, sample: readonly number[]): Promise<ReadyModel> {
  const { files, decoder, vocabulary } = model;
  const { maxBatch: wantedBatch, kvBytes, cacheBytes } = { ...usualSettings, ...model.settings };
  await warmUp(decoder, sample, files.weights);
  const steady = await isSteady(decoder, sample, files.context).catch(() => false);
  const padding = steady && wantedBatch > 1 ? await paddingOf(decoder, sample).catch(() => null) : null;
  const together = padding !== null && (await canPrefillTogether(decoder, padding, sample).catch(() => false));
  const reuse = steady && (await canPrefillInPieces(decoder, sample).catch(() => false));
  const maxBatch = padding ? wantedBatch : 1;
  const each = bytesPerToken(decoder.layout);
  const costs = costsOf(files.weightBytes, each);
  const { stops } = vocabulary;
  const settings = { stops, maxBatch, bytesPerToken: each, costs, together, reuse, kvBytes, cacheBytes };
  return {
    scheduler: new Scheduler(padding ? decoder.padded(padding) : decoder, settings),
    maxBatch,
    reuse,
    context: files.context,
    vocabulary,
  };
}

/** Runs two steps, the second on the cache of the first. */
async function warmUp(decoder: Decoder, tokens: readonly number[], weights: string): Promise<void> {
  try {
    const past = await decoder.prefill({ past: decoder.begin(), tokens });
    await decoder.decode([{ past, tokens: tokens.slice(-1) }]);
  } catch (error) {
    throw new BrokenModel('weights', `${weights} loads but does not run: ${nativeMessageOf(error)}`);
  }
}

/**
 * Returns whether a tiny change of the cache stays tiny. Batches and shared prefixes change the last digits of keys and
 * values. A model that rounds inner values to few bits turns some such changes into large ones. The other trials seldom
 * meet one of these, so this trial changes the whole cache, and reads the more tokens the smaller the model is.
 */
async function isSteady(decoder: Decoder, tokens: readonly number[], context: number): Promise<boolean> {
  const { tensors } = decoder.layout;
  const perToken = tensors.reduce((sum, { heads, headSize }) => sum + heads * headSize, 0);
  const most = Math.max(1, Math.min(120, context - KNOWN));
  const sample = repeated(tokens, KNOWN + Math.min(most, Math.max(16, Math.ceil(TRIED_NUMBERS / perToken))));
  const past = await decoder.prefill({ past: decoder.begin(), tokens: sample.slice(0, KNOWN) });
  const read = async (known: Past) => {
    const step = await decoder.scored({ past: known, tokens: sample.slice(KNOWN) });
    return [step.scores, ...keysAndValues(decoder.layout, step.past, KNOWN)];
  };
  const expected = await read(past);
  const changed = await read(nudged(past));
  const limits = [CHANGE.float32, ...tensors.map(({ type }) => CHANGE[type])];
  return limits.every((limit, i) => differAtMost(limit, expected[i] as Scores, changed[i] as Scores));
}

/**
 * Returns the padding with which two sequences of different lengths get the same scores in one batch as alone. Returns
 * null if there is none. Exports need different paddings and do not say which. With the wrong padding, the answers are
 * wrong but look right.
 */
async function paddingOf(decoder: Decoder, tokens: readonly number[]): Promise<Padding | null> {
  if (!decoder.layout.takesMask) return null;
  const rows: Row[] = [];
  const expected: Step[][] = [];
  for (const length of [2, 7]) {
    const sample = repeated(tokens, length + 2);
    const past = await decoder.prefill({ past: decoder.begin(), tokens: sample.slice(0, length) });
    const row = { past, tokens: sample.slice(length) };
    rows.push(row);
    expected.push((await twoSteps(decoder, [row])).flat());
  }
  for (const padding of ['left', 'right'] as const) {
    const steps = await twoSteps(decoder.padded(padding), rows).catch(() => null);
    const agrees = steps?.every((step, i) =>
      step.every(({ scores }, row) => alike(decoder, scores, expected[row]?.[i]?.scores ?? [])),
    );
    if (agrees) return padding;
  }
  return null;
}

/** Returns whether prompts of different lengths get the same scores in one step together as in a step for each. */
async function canPrefillTogether(decoder: Decoder, padding: Padding, tokens: readonly number[]): Promise<boolean> {
  const rows = [2, 7].map((length) => ({ past: decoder.begin(), tokens: repeated(tokens, length) }));
  const read = async (reader: Decoder, batch: readonly Row[]) => {
    const first = await reader.decode(batch);
    return [...first, ...(await reader.decode(first.map(({ past }) => ({ past, tokens: repeated(tokens, 1) }))))];
  };
  const short = await read(decoder, rows.slice(0, 1));
  const long = await read(decoder, rows.slice(1));
  const expected = [short[0], long[0], short[1], long[1]];
  const steps = await read(decoder.padded(padding), rows);
  return steps.every(({ scores }, i) => alike(decoder, scores, expected[i]?.scores ?? []));
}

/**
 * Returns whether a prompt gets the same scores in two steps as in one. Only then can sequences share a prefix. An int8
 * export fails this trial if its rounding depends on all tokens of the step.
 */
async function canPrefillInPieces(decoder: Decoder, tokens: readonly number[]): Promise<boolean> {
  const sample = repeated(tokens, 9);
  const [whole] = await decoder.decode([{ past: decoder.begin(), tokens: sample }]);
  const past = await decoder.prefill({ past: decoder.begin(), tokens: sample.slice(0, 4) });
  const [inPieces] = await decoder.decode([{ past, tokens: sample.slice(4) }]);
  return alike(decoder, inPieces?.scores ?? [], whole?.scores ?? []);
}

const repeated = (tokens: readonly number[], length: number): number[] =>
  Array.from({ length }, (_, i) => tokens[i % tokens.length] as number);

/** Runs two steps, the second on the cache of the first. */
async function twoSteps(decoder: Decoder, rows: readonly Row[]): Promise<[Step[], Step[]]> {
  const step = (index: number, pasts: readonly Pick<Row, 'past'>[]) =>
    decoder.decode(pasts.map(({ past }, row) => ({ past, tokens: [rows[row]?.tokens[index] as number] })));
  const first = await step(0, rows);
  return [first, await step(1, first)];
}

/** Returns whether no number changes by more than a fraction of the largest. */
function differAtMost(fraction: number, numbers: Scores, others: Scores): boolean {
  let largest = 0;
  let change = 0;
  for (let i = 0; i < numbers.length; i++) {
    const [one, other] = [numbers[i] as number, others[i] as number];
    if (Number.isFinite(one)) largest = Math.max(largest, Math.abs(one));
    if (!Object.is(one, other)) change = Math.max(change, Math.abs(one - other));
  }
  return change <= fraction * largest;
}

function alike({ layout: { tensors } }: Decoder, scores: Scores, expected: Scores): boolean {
  const tolerance = TOLERANCE[tensors.some(({ type }) => type === 'float16') ? 'float16' : 'float32'];
  const finite = Array.from(expected).filter(Number.isFinite);
  const range = finite.reduce((max, one) => Math.max(max, one), 0) - finite.reduce((min, one) => Math.min(min, one), 0);
  return Array.from(scores).every((score, token) => {
    const other = expected[token] as number;
    return Object.is(score, other) || Math.abs(score - other) <= tolerance * range;
  });
}
