/**
 * Loads a chat model. Trial steps show whether the model can run batches, which padding its batches need, and whether
 * sequences can share a prefix.
 */
import { nativeMessageOf } from '../../onnx/onnx-runtime.js';
import type { LoadSettings } from '../protocol.js';
import { costsOf } from './batches.js';
import { Decoder, type Row, type Scores, type Step } from './decoder.js';
import { bytesPerToken, type Padding } from './kv-cache.js';
import { BrokenModel, type ModelFiles, readModelFiles } from './model-files.js';
import { Scheduler } from './scheduler.js';
import { Vocabulary } from './tokenizers.js';

const usualSettings = { maxBatch: 16, kvBytes: 512 * 2 ** 20, cacheBytes: 256 * 2 ** 20 };

/** Scores count as equal up to this fraction of their range. Rounding changes them less, a wrong mask far more. */
const TOLERANCE = { float32: 1e-3, float16: 1e-2 };

export interface LoadedModel {
  readonly files: ModelFiles;
  readonly settings: LoadSettings;
  readonly vocabulary: Vocabulary;
  readonly decoder: Decoder;
}

export interface ReadyModel {
  readonly scheduler: Scheduler;
  readonly maxBatch: number;
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
  const padding = wantedBatch > 1 ? await paddingOf(decoder, sample).catch(() => null) : null;
  const together = padding !== null && (await canPrefillTogether(decoder, padding, sample).catch(() => false));
  const reuse = await canPrefillInPieces(decoder, sample).catch(() => false);
  const maxBatch = padding ? wantedBatch : 1;
  const each = bytesPerToken(decoder.layout);
  const costs = costsOf(files.weightBytes, each);
  const { stops } = vocabulary;
  const settings = { stops, maxBatch, bytesPerToken: each, costs, together, reuse, kvBytes, cacheBytes };
  return { scheduler: new Scheduler(padding ? decoder.padded(padding) : decoder, settings), maxBatch, vocabulary };
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

function alike({ layout: { tensors } }: Decoder, scores: Scores, expected: Scores): boolean {
  const tolerance = TOLERANCE[tensors.some(({ type }) => type === 'float16') ? 'float16' : 'float32'];
  const finite = Array.from(expected).filter(Number.isFinite);
  const range = finite.reduce((max, one) => Math.max(max, one), 0) - finite.reduce((min, one) => Math.min(min, one), 0);
  return Array.from(scores).every((score, token) => {
    const other = expected[token] as number;
    return Object.is(score, other) || Math.abs(score - other) <= tolerance * range;
  });
}
