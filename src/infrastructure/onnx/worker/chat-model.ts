import type { ChatMessage } from '../../../domain/chat/chat.js';
import type { LoadSettings } from '../protocol.js';
import { BrokenModel } from './broken-model.js';
import { ChatTemplate } from './chat-template.js';
import { Decoder } from './decoder.js';
import { costsOf } from './grouping.js';
import { bytesPerToken } from './kv-layout.js';
import { type ModelFiles, readModelFiles } from './model-files.js';
import { nativeWords } from './native-words.js';
import { Scheduler } from './scheduler.js';
import { Tokens } from './tokens.js';
import { paddingOf, readsInAnyPieces } from './trials.js';

/** Tried out on each model before anybody asks it. */
const SAMPLE = 'Hello! How are you today?';

/** What is usual for a model on a machine that has other things to do. */
const usual = { maxBatch: 8, kvBytes: 512 * 2 ** 20, cacheBytes: 256 * 2 ** 20 };

/** A loaded language model and all that belongs to it. */
export interface ChatModel {
  readonly scheduler: Scheduler;
  readonly maxBatch: number;
  readonly context: number;
  /** Throws RefusedMessages. */
  encode(messages: readonly ChatMessage[]): number[];
  decode(tokens: readonly number[], cut: boolean): string;
}

/** Loads the model and has it take some steps, so that what is called ready has run. Throws BrokenModel. */
export async function loadChatModel(folder: string, threads: number, settings: LoadSettings = {}): Promise<ChatModel> {
  const { weights, maxBatch, kvBytes, cacheBytes } = { ...usual, ...settings };
  const files = readModelFiles(folder, weights);
  const context = contextOf(files);
  const tokens = new Tokens(files);
  const template = new ChatTemplate(files);
  const decoder = await Decoder.load(files, threads);
  const sample = tokens.encode(SAMPLE);
  await warmUp(decoder, sample, files.weights);
  // A model that fails a trial with an error has not passed it.
  const padding = maxBatch > 1 ? await paddingOf(decoder, sample).catch(() => null) : null;
  const reuse = await readsInAnyPieces(decoder, sample).catch(() => false);
  const batch = padding ? maxBatch : 1;
  const each = bytesPerToken(decoder.layout);
  const costs = costsOf(files.weightBytes, each);
  const limits = { maxBatch: batch, bytesPerToken: each, costs, reuse, kvBytes, cacheBytes };
  const network = padding ? decoder.padded(padding) : decoder;
  return {
    scheduler: new Scheduler(network, { ...limits, stops: tokens.stops(files) }),
    maxBatch: batch,
    context,
    encode: (messages) =>
      tokens.encode(template.render(messages.map((one) => ({ ...one, content: tokens.plain(one.content) })))),
    decode: (ids, cut) => tokens.decode(ids, cut),
  };
}

function contextOf({ config, tokenizerConfig }: ModelFiles): number {
  const named = [config.max_position_embeddings, tokenizerConfig.model_max_length];
  // Tokenizers that have nothing to say write a number beyond all integers.
  const [context] = named.filter((length): length is number => Number.isSafeInteger(length) && Number(length) > 0);
  if (context === undefined)
    throw new BrokenModel('configuration', 'config.json names no max_position_embeddings: the context is unknown');
  return context;
}

/** The second step is fed with the cache of the first. */
async function warmUp(decoder: Decoder, tokens: readonly number[], weights: string): Promise<void> {
  try {
    const past = await decoder.read({ past: decoder.begin(), tokens });
    await decoder.advance([{ past, tokens: tokens.slice(-1) }]);
  } catch (error) {
    throw new BrokenModel('weights', `${weights} loads but does not run: ${nativeWords(error)}`);
  }
}
