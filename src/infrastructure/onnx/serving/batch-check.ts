import { decodeHalves } from '../worker/half-floats.js';
import { batchKey, joinRows, rowsOf, splitRows } from './batches.js';
import { isNumeric, type Tensor, type TensorData, type Tensors } from './tensors.js';

export type BatchVerdict = 'unknown' | 'equal' | 'different';

type Run = (feeds: Tensors) => Promise<Tensors>;

/** Of the largest number in a tensor: more than rounding ever makes, less than rows that see each other. */
const TOLERANCE = 5e-5;
const HALF_TOLERANCE = 5e-3;
const MOST_ATTEMPTS = 10;

/**
 * Finds out whether the rows of a batch are answered as each is alone: a model whose rows see each other (one that
 * normalises over the batch) must not run the requests of different callers together. The first requests themselves are
 * the samples, since made-up ones could be what the model can't take.
 */
export class BatchCheck {
  verdict: BatchVerdict = 'unknown';
  private sample: Tensors | null = null;
  private attempts = 0;

  constructor(private readonly run: Run) {}

  /** Looks at feeds that the model has answered with `outputs`. */
  async look(feeds: Tensors, outputs: Tensors): Promise<void> {
    if (this.verdict !== 'unknown' || rowsOf(feeds) === 0) return;
    const other = this.other(feeds);
    this.sample = feeds;
    if (!other) return;
    this.attempts++;
    const equal = await this.compare(feeds, outputs, other).catch(() => null);
    if (equal !== null) this.verdict = equal ? 'equal' : 'different';
    else if (this.attempts === MOST_ATTEMPTS) this.verdict = 'different';
    if (this.verdict !== 'unknown') this.sample = null;
  }

  /** Feeds that can run with these and are not the same: an earlier request's, or a variation. */
  private other(feeds: Tensors): Tensors | null {
    const candidates = [this.sample, feeds.map(varied)];
    const fits = (one: Tensors | null) => one && batchKey(one) === batchKey(feeds) && !same(one, feeds);
    return candidates.find(fits) ?? null;
  }

  /** Throws where the model can't take the other one alone. */
  private async compare(feeds: Tensors, outputs: Tensors, other: Tensors): Promise<boolean> {
    const alone = [outputs, await this.run(other)];
    const pair = [feeds, other];
    const together = await this.run(joinRows(pair)).catch(() => null);
    const split = together && splitRows(together, pair.map(rowsOf));
    return split?.every((part, at) => close(part, alone[at] as Tensors)) ?? false;
  }
}

/** Backwards, and where numbers may be anything larger: whatever is taken over all rows comes out differently. */
function varied({ datatype, shape, data }: Tensor): Tensor {
  if (!isNumeric(data)) return { datatype, shape, data: [...data].reverse() };
  const copy = data.slice().reverse();
  if (datatype === 'FP32' || datatype === 'FP64') for (let at = 0; at < copy.length; at++) copy[at] = larger(copy[at]);
  return { datatype, shape, data: copy };
}

const larger = (value: number | bigint | undefined): number => Number(value) * 1.5 + 0.25;

const same = (some: Tensors, others: Tensors): boolean =>
  some.every(({ data }, at) => equalData(data, (others[at] as Tensor).data));

const equalData = (some: TensorData, others: TensorData): boolean =>
  some.length === others.length && some.every((one: unknown, at: number) => Object.is(one, others[at]));

const close = (some: Tensors, others: Tensors): boolean =>
  some.every((tensor, at) => closeTensors(tensor, others[at] as Tensor));

function closeTensors(one: Tensor, other: Tensor): boolean {
  if (one.shape.join() !== other.shape.join()) return false;
  const tolerance = one.datatype === 'FP16' ? HALF_TOLERANCE : TOLERANCE;
  const [a, b] = [floats(one), floats(other)];
  if (!a || !b) return equalData(one.data, other.data);
  const scale = largest(b);
  return a.every((value: number, at: number) => {
    const expected = b[at] as number;
    return Object.is(value, expected) || Math.abs(value - expected) <= tolerance * scale;
  });
}

function largest(numbers: Iterable<number>): number {
  let most = 0;
  for (const one of numbers) if (Number.isFinite(one)) most = Math.max(most, Math.abs(one));
  return most;
}

/** Null for data that is compared exactly. */
function floats({ datatype, data }: Tensor): Float32Array | Float64Array | null {
  if (datatype === 'FP16') return decodeHalves(data as Uint16Array);
  return data instanceof Float32Array || data instanceof Float64Array ? data : null;
}
