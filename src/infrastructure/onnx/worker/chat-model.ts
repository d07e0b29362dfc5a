import type { ChatMessage } from '../../../domain/chat/chat.js';
import { BrokenModel } from './broken-model.js';
import { ChatTemplate } from './chat-template.js';
import { Decoder } from './decoder.js';
import { type ModelFiles, readModelFiles } from './model-files.js';
import { nativeWords } from './native-words.js';
import { Tokens } from './tokens.js';

/** A loaded language model and all that belongs to it. */
export interface ChatModel {
  readonly decoder: Decoder;
  readonly context: number;
  readonly stops: ReadonlySet<number>;
  /** Throws RefusedMessages. */
  encode(messages: readonly ChatMessage[]): number[];
  decode(tokens: readonly number[]): string;
}

/** Loads the model and has it take two steps, so that what is called ready has run. Throws BrokenModel. */
export async function loadChatModel(folder: string, threads: number): Promise<ChatModel> {
  const files = readModelFiles(folder);
  const context = contextOf(files);
  const tokens = new Tokens(files);
  const template = new ChatTemplate(files);
  const decoder = await Decoder.load(files, threads);
  await warmUp(decoder, tokens.encode('Hello'), files.weights);
  return {
    decoder,
    context,
    stops: tokens.stops(files),
    encode: (messages) => tokens.encode(template.render(messages)),
    decode: (ids) => tokens.decode(ids),
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
    const sequence = decoder.begin();
    await decoder.advance(sequence, tokens);
    await decoder.advance(sequence, tokens.slice(-1));
  } catch (error) {
    throw new BrokenModel('weights', `${weights} loads but does not run: ${nativeWords(error)}`);
  }
}
