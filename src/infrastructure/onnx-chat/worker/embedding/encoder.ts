/** Runs an embedding model. It takes the tokens of texts, and returns a vector for each text. */
import { join } from 'node:path';
import { env, InferenceSession, Tensor } from 'onnxruntime-node';
import { decodeHalves, nativeMessageOf, relativeTo, sessionOptions } from '../../../onnx/onnx-runtime.js';
import { BrokenModel } from '../model-files.js';
import type { EmbeddingFiles } from './embedding-files.js';

env.logLevel = 'error';

/** The outputs that hold vectors, the best first. The network has already pooled `sentence_embedding`. */
const OUTPUTS = ['sentence_embedding', 'last_hidden_state', 'token_embeddings'] as const;

/** The values of each input for a text: for the token at index `i`, and for padding (default: the padding token). */
const INPUTS: Readonly<Record<string, { of(token: number, i: number): number; padding?: number }>> = {
  input_ids: { of: (token) => token },
  attention_mask: { of: () => 1, padding: 0 },
  token_type_ids: { of: () => 0, padding: 0 },
  position_ids: { of: (_, i) => i, padding: 0 },
};

/** Normalized vectors count as equal if no element differs by more. A wrong mask changes them much more. */
const TOLERANCE = 1e-4;

export class Encoder {
  private constructor(
    private readonly session: InferenceSession,
    private readonly files: EmbeddingFiles,
    private readonly output: (typeof OUTPUTS)[number],
  ) {}

  /** The most tokens of a text. */
  get context(): number {
    return this.files.context;
  }

  /** Throws BrokenModel. */
  static async load(files: EmbeddingFiles, threads: number): Promise<Encoder> {
    const { folder, weights, otherModule } = files;
    const broken = (problem: string) => new BrokenModel('weights', `${weights} ${problem}`);
    const session = await InferenceSession.create(join(folder, weights), sessionOptions(threads)).catch(
      (error: unknown) => {
        throw broken(`does not load: ${relativeTo(folder, nativeMessageOf(error))}`);
      },
    );
    const unknown = session.inputNames.find((name) => !Object.hasOwn(INPUTS, name));
    if (unknown !== undefined) throw broken(`takes ${unknown}, which embedding models do not`);
    const output = OUTPUTS.find((name) => session.outputNames.includes(name));
    if (!output) throw broken(`has none of the outputs ${OUTPUTS.join(', ')}`);
    if (otherModule !== null && output !== 'sentence_embedding')
      throw new BrokenModel('modules', `modules.json names ${otherModule}, which is not supported`);
    return new Encoder(session, files, output);
  }

  /**
   * Tries the model on the tokens of `sample`. Returns whether rows of different lengths get the same vectors in one
   * batch as alone. The vectors differ without an attention mask, or if rounding depends on all tokens of a batch, as
   * in int8 exports. Throws BrokenModel if the model does not run.
   */
  async try(sample: readonly number[], padding: number): Promise<boolean> {
    const rows = [3, 11].map((length) => Int32Array.from({ length }, (_, i) => sample[i % sample.length] as number));
    const { context, weights } = this.files;
    const some = rows.map((row) => row.subarray(0, context));
    try {
      const alone = [];
      for (const row of some) alone.push(...(await this.encode([row], padding)));
      if (!this.session.inputNames.includes('attention_mask')) return false;
      const together = await this.encode(some, padding).catch(() => []);
      return alone.every((vector, i) => alike(vector, together[i]));
    } catch (error) {
      throw new BrokenModel('weights', `${weights} loads but does not run: ${nativeMessageOf(error)}`);
    }
  }

  /** Returns the vector of each row. Blocks the thread while the model runs. */
  async encode(rows: readonly Int32Array[], padding: number): Promise<Float32Array[]> {
    const width = Math.max(...rows.map(({ length }) => length));
    const feeds = this.session.inputNames.map((name) => [name, inputOf(name, rows, width, padding)]);
    const { [this.output]: found } = await this.session.run(Object.fromEntries(feeds), [this.output]);
    const { data, dims } = found as Tensor;
    const numbers = data instanceof Uint16Array ? decodeHalves(data) : (data as Float32Array);
    const size = dims.at(-1) ?? 0;
    return rows.map(({ length }, row) => {
      const vector = this.pooled(numbers.subarray((row * numbers.length) / rows.length), length, size);
      return this.files.normalize ? normalized(vector) : vector;
    });
  }

  /** Returns the vector of a row. `numbers` begins with the vectors of its tokens, or with its pooled vector. */
  private pooled(numbers: Float32Array, tokens: number, size: number): Float32Array {
    const { pooling } = this.files;
    if (this.output === 'sentence_embedding' || pooling === 'cls') return numbers.slice(0, size);
    if (pooling === 'last_token') return numbers.slice((tokens - 1) * size, tokens * size);
    const sums = new Float64Array(size);
    for (let token = 0; token < tokens; token++)
      for (let i = 0; i < size; i++) sums[i] = (sums[i] as number) + (numbers[token * size + i] as number);
    return Float32Array.from(sums, (sum) => sum / tokens);
  }
}

function inputOf(name: string, rows: readonly Int32Array[], width: number, padding: number): Tensor {
  const { of, padding: own = padding } = INPUTS[name] as (typeof INPUTS)[string];
  const values = new BigInt64Array(rows.length * width);
  // Writes only the lower half of each 64-bit integer. Making a BigInt for each takes longer than to run a small model.
  const halves = new Int32Array(values.buffer);
  for (const [row, tokens] of rows.entries())
    for (let i = 0; i < width; i++)
      halves[2 * (row * width + i)] = i < tokens.length ? of(tokens[i] as number, i) : own;
  return new Tensor('int64', values, [rows.length, width]);
}

function normalized(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, one) => sum + one * one, 0));
  return vector.map((one) => one / Math.max(length, 1e-12));
}

function alike(vector: Float32Array, other: Float32Array | undefined): boolean {
  const [one, two] = [normalized(vector), normalized(other ?? new Float32Array(vector.length))];
  return one.every((value, i) => Math.abs(value - (two[i] as number)) <= TOLERANCE);
}
