import { join } from 'node:path';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import { decodeHalves } from '../../onnx/float16.js';
import { nativeMessageOf, relativeTo } from '../../onnx/native-errors.js';
import { BrokenModel } from './broken-model.js';
import { alone, type KvArray, noPast, type Padding, type Past, packed } from './kv-cache.js';
import { type KvLayout, kvLayoutOf } from './kv-layout.js';
import type { ModelFiles } from './model-files.js';

// Its warnings are advice to whoever exported the model, and there are many of them.
env.logLevel = 'error';

/** For each token of the vocabulary, how well it continues the sequence. */
export type Scores = ArrayLike<number>;

/** A sequence as far as the model has seen it, and what it is to see next. */
export interface Row {
  readonly past: Past;
  readonly tokens: readonly number[];
}

export interface Step {
  readonly past: Past;
  readonly scores: Scores;
}

/** What the order of work needs of a network. */
export interface Network {
  /** Before the first token. */
  begin(): Past;
  /** Appends the tokens. Blocks the thread while the model runs, as `advance` does. */
  read(row: Row): Promise<Past>;
  /** Appends the tokens and scores what comes after the last. Several rows get a token each. */
  advance(rows: readonly Row[]): Promise<Step[]>;
  /** The same past in memory of its own. */
  alone(past: Past): Past;
}

/** The model itself: tokens in, scores of the next one out. */
export class Decoder implements Network {
  private constructor(
    private readonly session: InferenceSession,
    readonly layout: KvLayout,
    private readonly padding: Padding,
  ) {}

  /** Throws BrokenModel. */
  static async load({ folder, weights }: ModelFiles, threads: number): Promise<Decoder> {
    // Threads that spin while they wait take the processor from the other runtimes.
    const patient = threads > 1 ? { extra: { session: { intra_op: { allow_spinning: '0' } } } } : {};
    const options = { intraOpNumThreads: threads, interOpNumThreads: 1, ...patient };
    const session = await InferenceSession.create(join(folder, weights), options).catch((error: unknown) => {
      throw new BrokenModel('weights', `${weights} does not load: ${relativeTo(folder, nativeMessageOf(error))}`);
    });
    return new Decoder(session, kvLayoutOf(session, weights), 'left');
  }

  /** The same one, which fills up the shorter rows of a batch on that side. */
  padded(padding: Padding): Decoder {
    return new Decoder(this.session, this.layout, padding);
  }

  begin(): Past {
    return noPast(this.layout);
  }

  alone(past: Past): Past {
    return alone(this.layout, past);
  }

  async read(row: Row): Promise<Past> {
    const { pasts } = await this.run([row], []);
    return pasts[0] as Past;
  }

  async advance(rows: readonly Row[]): Promise<Step[]> {
    const { pasts, outputs } = await this.run(rows, ['logits']);
    const logits = outputs.logits as Tensor;
    return pasts.map((past, row) => ({ past, scores: lastScores(logits, row, rows.length) }));
  }

  /** What nobody asks for isn't copied: the scores of a long piece of text are many. */
  private async run(rows: readonly Row[], wanted: readonly string[]) {
    const { tensors } = this.layout;
    const outputs = await this.session.run(this.feeds(rows), [...tensors.map(({ output }) => output), ...wanted]);
    const kept = tensors.map(({ output }) => outputs[output] as Tensor);
    const length = kept[0]?.dims[2] ?? 0;
    const cache = { rows: rows.length, length, arrays: kept.map(({ data }) => data as KvArray) };
    const pasts = rows.map(({ past, tokens }, row) => {
      const seen = past.length + tokens.length;
      return { cache, row, start: this.padding === 'left' ? length - seen : 0, length: seen };
    });
    return { pasts, outputs };
  }

  private feeds(rows: readonly Row[]): Record<string, Tensor> {
    const { takesMask, takesPositions, tensors } = this.layout;
    const pasts = rows.map(({ past }) => past);
    const cache = packed(this.layout, pasts, this.padding);
    const size = rows[0]?.tokens.length ?? 0;
    const total = cache.length + size;
    const integers = (width: number, fill: (values: BigInt64Array, row: Row) => void) => {
      const values = new BigInt64Array(rows.length * width);
      for (const [i, row] of rows.entries()) fill(values.subarray(i * width, (i + 1) * width), row);
      return new Tensor('int64', values, [rows.length, width]);
    };
    const seen = (values: BigInt64Array, { past }: Row) =>
      this.padding === 'left' ? values.fill(1n, cache.length - past.length) : values.fill(1n, 0, past.length + size);
    return {
      input_ids: integers(size, (values, { tokens }) => values.set(tokens.map(BigInt))),
      ...(takesMask && { attention_mask: integers(total, seen) }),
      ...(takesPositions && {
        position_ids: integers(size, (values, { past }) => {
          for (let i = 0; i < size; i++) values[i] = BigInt(past.length + i);
        }),
      }),
      ...Object.fromEntries(
        tensors.map(({ input, type, heads, headSize }, tensor) => {
          const shape = [rows.length, heads, cache.length, headSize];
          // The types of the two libraries don't know that half floats may be handed over as their bits.
          return [input, new Tensor(type as 'float32', cache.arrays[tensor] as Float32Array, shape)];
        }),
      ),
    };
  }
}

/** Models give scores for every position of a row, or for its last one only. */
function lastScores({ data, dims }: Tensor, row: number, rows: number): Scores {
  const numbers = data as KvArray;
  const end = (numbers.length / rows) * (row + 1);
  const scores = numbers.subarray(end - (dims.at(-1) ?? 0), end);
  return scores instanceof Uint16Array ? decodeHalves(scores) : scores;
}
