import './halves-as-bits.js';
import { join } from 'node:path';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import { BrokenModel } from './broken-model.js';
import { decodeHalves } from './half-floats.js';
import { type KvLayout, kvLayoutOf } from './kv-layout.js';
import type { ModelFiles } from './model-files.js';
import { nativeWords, relativeTo } from './native-words.js';

// Its warnings are advice to whoever exported the model, and there are many of them.
env.logLevel = 'error';

/** For each token of the vocabulary, how well it continues the sequence. */
export type Scores = ArrayLike<number>;

/** Tokens that the model has seen, by what it keeps of them. */
export interface Sequence {
  length: number;
  cache: Readonly<Record<string, Tensor>>;
}

/** The network itself: tokens in, scores of the next one out. */
export class Decoder {
  private constructor(
    private readonly session: InferenceSession,
    private readonly layout: KvLayout,
  ) {}

  /** Throws BrokenModel. */
  static async load({ folder, weights }: ModelFiles, threads: number): Promise<Decoder> {
    // Threads that spin while they wait take the processor from the other runtimes.
    const patient = threads > 1 ? { extra: { session: { intra_op: { allow_spinning: '0' } } } } : {};
    const options = { intraOpNumThreads: threads, interOpNumThreads: 1, ...patient };
    const session = await InferenceSession.create(join(folder, weights), options).catch((error: unknown) => {
      throw new BrokenModel('weights', `${weights} does not load: ${relativeTo(folder, nativeWords(error))}`);
    });
    return new Decoder(session, kvLayoutOf(session, weights));
  }

  begin(): Sequence {
    return { length: 0, cache: emptyCache(this.layout) };
  }

  /** Appends `tokens` to the sequence and scores what comes after the last. Blocks the thread while the model runs. */
  async advance(sequence: Sequence, tokens: readonly number[]): Promise<Scores> {
    const { takesMask, takesPositions, tensors } = this.layout;
    const end = sequence.length + tokens.length;
    const feeds: Record<string, Tensor> = {
      ...sequence.cache,
      input_ids: integers(BigInt64Array.from(tokens, BigInt)),
    };
    if (takesMask) feeds.attention_mask = integers(new BigInt64Array(end).fill(1n));
    if (takesPositions)
      feeds.position_ids = integers(BigInt64Array.from(tokens, (_, i) => BigInt(sequence.length + i)));
    const outputs = await this.session.run(feeds);
    sequence.cache = Object.fromEntries(tensors.map(({ input, output }) => [input, outputs[output] as Tensor]));
    sequence.length = end;
    return lastRow(outputs.logits as Tensor);
  }
}

const integers = (row: BigInt64Array): Tensor => new Tensor('int64', row, [1, row.length]);

/** The cache before the first token. */
function emptyCache({ tensors }: KvLayout): Record<string, Tensor> {
  return Object.fromEntries(
    tensors.map(({ input, type, heads, headSize }) => {
      // Half floats are handed over as their bits.
      const nothing = type === 'float16' ? new Uint16Array(0) : new Float32Array(0);
      return [input, new Tensor(type, nothing, [1, heads, 0, headSize])];
    }),
  );
}

/** Models give scores for every position, or for the last one only. */
function lastRow({ data, dims }: Tensor): Scores {
  const numbers = data as Float32Array | Uint16Array;
  const row = numbers.subarray(numbers.length - (dims.at(-1) ?? 0));
  return row instanceof Uint16Array ? decodeHalves(row) : row;
}
