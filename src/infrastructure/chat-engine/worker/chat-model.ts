import { nativeMessageOf } from '../../onnx/native-errors.js';
import type { LoadSettings } from '../protocol.js';
import { BrokenModel } from './broken-model.js';
import { Decoder } from './decoder.js';
import { costsOf } from './grouping.js';
import { bytesPerToken } from './kv-layout.js';
import { type ModelFiles, readModelFiles } from './model-files.js';
import { Scheduler } from './scheduler.js';
import { paddingOf, readsInAnyPieces } from './trials.js';
import { Vocabulary } from './vocabulary.js';

/** What is usual for a model on a machine that has other things to do. */
const usual = { maxBatch: 8, kvBytes: 512 * 2 ** 20, cacheBytes: 256 * 2 ** 20 };

/** A language model in memory, of which nobody knows yet what it can do. */
export interface LoadedModel {
  readonly files: ModelFiles;
  readonly settings: LoadSettings;
  readonly vocabulary: Vocabulary;
  readonly decoder: Decoder;
}

/** A language model that may be asked. */
export interface TriedModel {
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

/** Has the model take some steps, which tell what it can do. Throws BrokenModel. */
export async function tried(model: LoadedModel, sample: readonly number[]): Promise<TriedModel> {
  const { files, decoder, vocabulary } = model;
  const { maxBatch, kvBytes, cacheBytes } = { ...usual, ...model.settings };
  await warmUp(decoder, sample, files.weights);
  // A model that fails a trial with an error has not passed it.
  const padding = maxBatch > 1 ? await paddingOf(decoder, sample).catch(() => null) : null;
  const reuse = await readsInAnyPieces(decoder, sample).catch(() => false);
  const batch = padding ? maxBatch : 1;
  const each = bytesPerToken(decoder.layout);
  const costs = costsOf(files.weightBytes, each);
  const limits = { maxBatch: batch, bytesPerToken: each, costs, reuse, kvBytes, cacheBytes };
  const network = padding ? decoder.padded(padding) : decoder;
  return { scheduler: new Scheduler(network, { ...limits, stops: vocabulary.stops }), maxBatch: batch, vocabulary };
}

/** The second step is fed with the cache of the first. */
async function warmUp(decoder: Decoder, tokens: readonly number[], weights: string): Promise<void> {
  try {
    const past = await decoder.read({ past: decoder.begin(), tokens });
    await decoder.advance([{ past, tokens: tokens.slice(-1) }]);
  } catch (error) {
    throw new BrokenModel('weights', `${weights} loads but does not run: ${nativeMessageOf(error)}`);
  }
}
