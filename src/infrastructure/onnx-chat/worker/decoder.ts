/** Runs the model: tokens in, scores of the next token out. */
import { join } from 'node:path';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import { nativeMessageOf, relativeTo, sessionOptions } from '../../onnx/onnx-runtime.js';
import {
  compacted,
  type KvArray,
  type KvLayout,
  kvLayoutOf,
  noPast,
  numbersIn,
  type Padding,
  type Past,
  packed,
} from './kv-cache.js';
import { BrokenModel, type ModelFiles } from './model-files.js';

// The library's warnings are advice for the exporter of a model, and there are many of them.
env.logLevel = 'error';

/** The score of each token of the vocabulary as the next token (logits). */
export type Scores = ArrayLike<number>;

/** A row of a batch: the past of a sequence, and the tokens that the model reads next. */
export interface Row {
  readonly past: Past;
  readonly tokens: readonly number[];
}

export interface Step {
  readonly past: Past;
  readonly scores: Scores;
}

/** The part of a model that the scheduler needs. */
export interface Network {
  begin(): Past;
  /** Reads the tokens of one row. Like `decode`, blocks the thread while the model runs. */
  prefill(row: Row): Promise<Past>;
  /**
   * Reads the tokens of each row, and returns the scores of the next token. If the rows have different numbers of
   * tokens, their pasts must be empty. Some models can't read such rows.
   */
  decode(rows: readonly Row[]): Promise<Step[]>;
  compact(past: Past): Past;
}

export class Decoder implements Network {
  private constructor(
    private readonly session: InferenceSession,
    readonly layout: KvLayout,
    private readonly padding: Padding,
  ) {}

  /** Throws BrokenModel. */
  static async load({ folder, weights }: ModelFiles, threads: number): Promise<Decoder> {
    const options = sessionOptions(threads);
    const session = await InferenceSession.create(join(folder, weights), options).catch((error: unknown) => {
      throw new BrokenModel('weights', `${weights} does not load: ${relativeTo(folder, nativeMessageOf(error))}`);
    });
    return new Decoder(session, kvLayoutOf(session, weights), 'left');
  }

  padded(padding: Padding): Decoder {
    return new Decoder(this.session, this.layout, padding);
  }

  begin(): Past {
    return noPast(this.layout);
  }

  compact(past: Past): Past {
    return compacted(this.layout, past);
  }

  /** Leaves the scores where they are, because the scores of a long prompt take time to copy. */
  async prefill(row: Row): Promise<Past> {
    const { pasts } = await this.run([row], []);
    return pasts[0] as Past;
  }

  /** Reads the tokens of one row. Returns the scores after each token, or after the last only, as the model does. */
  async scored(row: Row): Promise<Step> {
    const { pasts, outputs } = await this.run([row], ['logits']);
    return { past: pasts[0] as Past, scores: numbersIn((outputs.logits as Tensor).data as KvArray) };
  }

  async decode(rows: readonly Row[]): Promise<Step[]> {
    const { pasts, outputs } = await this.run(rows, ['logits']);
    const logits = outputs.logits as Tensor;
    const unread = widthOf(rows);
    return pasts.map((past, row) => {
      const after = this.padding === 'right' ? unread - (rows[row]?.tokens.length ?? 0) : 0;
      return { past, scores: lastScores(logits, row, after) };
    });
  }

  private async run(rows: readonly Row[], wanted: readonly string[]) {
    const { tensors } = this.layout;
    const outputs = await this.session.run(this.feeds(rows), [...tensors.map(({ output }) => output), ...wanted]);
    const present = tensors.map(({ output }) => outputs[output] as Tensor);
    const length = present[0]?.dims[2] ?? 0;
    const cache = { rows: rows.length, length, arrays: present.map(({ data }) => data as KvArray) };
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
    const size = widthOf(rows);
    const total = cache.length + size;
    const atLeft = this.padding === 'left';
    const integers = (width: number, fill: (values: BigInt64Array, row: Row) => void) => {
      const values = new BigInt64Array(rows.length * width);
      for (const [i, row] of rows.entries()) fill(values.subarray(i * width, (i + 1) * width), row);
      return new Tensor('int64', values, [rows.length, width]);
    };
    const ids = (values: BigInt64Array, { tokens }: Row) =>
      values.set(tokens.map(BigInt), atLeft ? size - tokens.length : 0);
    const mask = (values: BigInt64Array, { past, tokens }: Row) => {
      const seen = past.length + tokens.length;
      return atLeft ? values.fill(1n, total - seen) : values.fill(1n, 0, seen);
    };
    const positions = (values: BigInt64Array, { past, tokens }: Row) => {
      const from = atLeft ? size - tokens.length : 0;
      for (let i = 0; i < tokens.length; i++) values[from + i] = BigInt(past.length + i);
    };
    return {
      input_ids: integers(size, ids),
      ...(takesMask && { attention_mask: integers(total, mask) }),
      ...(takesPositions && { position_ids: integers(size, positions) }),
      ...Object.fromEntries(
        tensors.map(({ input, type, heads, headSize }, tensor) => {
          const shape = [rows.length, heads, cache.length, headSize];
          // The library also takes a Uint16Array for 16-bit floats, but its types do not allow it.
          return [input, new Tensor(type as 'float32', cache.arrays[tensor] as Float32Array, shape)];
        }),
      ),
    };
  }
}

const widthOf = (rows: readonly Row[]): number => Math.max(...rows.map(({ tokens }) => tokens.length));

/** Returns the scores after the last token of a row. `after` counts the padding behind this token. */
function lastScores({ data, dims }: Tensor, row: number, after: number): Scores {
  const numbers = data as KvArray;
  const [rows = 1, positions = 1, size = 0] = dims;
  // Some models score only the last position.
  const end = (numbers.length / rows) * (row + 1) - (positions > 1 ? after * size : 0);
  return numbersIn(numbers.subarray(end - size, end));
}
