import { decodeHalves, encodeHalf } from '../../onnx/onnx-runtime.js';
import {
  almostEqual,
  equal,
  isNumeric,
  type NumericArray,
  type Signature,
  type Tensor,
  type TensorData,
  type Tensors,
} from './tensors.js';

/** Returns whether every input and output has a free first dimension, so that this dimension may count rows. */
export const hasRows = ({ inputs, outputs }: Signature): boolean =>
  inputs.length > 0 && [...inputs, ...outputs].every(({ shape }) => shape[0] === -1);

/** Returns the number of rows, or 0 if the tensors disagree. */
export function rowsOf(tensors: Tensors): number {
  const [rows = 0] = tensors[0]?.shape ?? [];
  return tensors.every(({ shape }) => shape[0] === rows) ? rows : 0;
}

/** Returns a key that is equal for inputs whose rows can run together. */
export const batchKey = (tensors: Tensors): string => tensors.map(({ shape }) => shape.slice(1).join()).join(';');

export function joinRows(parts: readonly Tensors[]): Tensor[] {
  const [first = []] = parts;
  const rows = parts.reduce((sum, part) => sum + rowsOf(part), 0);
  return first.map(({ datatype, shape }, at) => ({
    datatype,
    shape: [rows, ...shape.slice(1)],
    data: concatenated(parts.map((part) => (part[at] as Tensor).data)),
  }));
}

function concatenated(parts: readonly TensorData[]): TensorData {
  const [first] = parts;
  if (!first || !isNumeric(first)) return parts.flatMap((part) => part as readonly string[]);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const all = new (first.constructor as Float32ArrayConstructor)(length);
  let at = 0;
  for (const part of parts) {
    all.set(part as Float32Array, at);
    at += part.length;
  }
  return all;
}

/** Splits the outputs of joined rows by request. Returns null if an output does not have one row for each input row. */
export function splitRows(outputs: Tensors, rows: readonly number[]): Tensor[][] | null {
  const total = rows.reduce((sum, one) => sum + one, 0);
  if (outputs.some(({ shape }) => shape[0] !== total)) return null;
  let begin = 0;
  return rows.map((count) => {
    const part = outputs.map(({ datatype, shape, data }) => {
      const width = data.length / total;
      const rowsData = data.slice(begin * width, (begin + count) * width) as TensorData;
      return { datatype, shape: [count, ...shape.slice(1)], data: rowsData };
    });
    begin += count;
    return part;
  });
}

export type BatchVerdict = 'unknown' | 'equal' | 'different';

type Run = (inputs: Tensors) => Promise<Tensors>;

/** Number of requests to compare before the verdict. */
const COMPARED = 3;
/** After this number of requests without any partner that the model accepts, the verdict is `different`. */
const MAX_FAILURES = 10;

/**
 * Finds out whether a model answers the rows of a batch as it answers each row alone. A model that normalises over the
 * batch does not. Then requests of different callers must not run together.
 *
 * Runs each real request together with a partner: the request before it, or a variation of itself. Random inputs would
 * not do, because the model may refuse them.
 */
export class BatchCheck {
  verdict: BatchVerdict = 'unknown';
  private previous: Tensors | null = null;
  private compared = 0;
  private failures = 0;

  constructor(private readonly run: Run) {}

  /** Checks the model with a request that it has answered with `outputs`. */
  async add(inputs: Tensors, outputs: Tensors): Promise<void> {
    if (this.verdict !== 'unknown' || rowsOf(inputs) === 0) return;
    const partners = this.partnersOf(inputs);
    this.previous = inputs;
    if (partners.length > 0) this.verdict = await this.compareWith(partners, inputs, outputs);
    if (this.verdict !== 'unknown') this.previous = null;
  }

  /** Returns other inputs of the same shapes: the request before this one, and variations. */
  private partnersOf(inputs: Tensors): Tensors[] {
    const all = [...(this.previous ? [this.previous] : []), ...variations.map((vary) => vary(inputs))];
    return all.filter((one) => batchKey(one) === batchKey(inputs) && !equal(one, inputs));
  }

  /** Leaves out partners that the model does not accept. */
  private async compareWith(partners: readonly Tensors[], inputs: Tensors, outputs: Tensors): Promise<BatchVerdict> {
    let accepted = 0;
    for (const partner of partners) {
      const alone = await this.run(partner).catch(() => null);
      if (!alone) continue;
      accepted++;
      if (!(await this.compare([inputs, partner], [outputs, alone]))) return 'different';
    }
    if (accepted > 0) this.compared++;
    else this.failures++;
    if (this.failures === MAX_FAILURES) return 'different';
    return this.compared === COMPARED ? 'equal' : 'unknown';
  }

  /** Compares in both orders, because a model may look at the first row or at the last. */
  private async compare(pair: Tensors[], alone: Tensors[]): Promise<boolean> {
    return (await this.isEqualJoined(pair, alone)) && this.isEqualJoined([...pair].reverse(), [...alone].reverse());
  }

  private async isEqualJoined(parts: Tensors[], alone: Tensors[]): Promise<boolean> {
    const joined = await this.run(joinRows(parts)).catch(() => null);
    const split = joined && splitRows(joined, parts.map(rowsOf));
    return split?.every((part, at) => almostEqual(part, alone[at] as Tensors)) ?? false;
  }
}

/**
 * Functions that return inputs of the same shapes with other values, so that a maximum, minimum or sum over all rows
 * changes in one of them. They never invent an integer. It could be an invalid index, or a zero by which the model
 * divides, which ends the process.
 */
const variations: readonly ((inputs: Tensors) => Tensors)[] = [
  (inputs) => inputs.map((tensor) => filled(tensor, (one, other) => one < other)),
  (inputs) => inputs.map((tensor) => filled(tensor, (one, other) => one > other)),
  (inputs) => inputs.map(changed),
];

type Ordered = number | bigint | string;

/** Fills the whole tensor with its first element in the order of `isBefore`. */
function filled(tensor: Tensor, isBefore: (one: Ordered, other: Ordered) => boolean): Tensor {
  const { data } = tensor;
  const order = (tensor.datatype === 'FP16' ? decodeHalves(data as Uint16Array) : data) as ArrayLike<Ordered>;
  let first = 0;
  for (let at = 1; at < order.length; at++) if (isBefore(order[at] as Ordered, order[first] as Ordered)) first = at;
  const all = isNumeric(data) ? data.slice() : [...data];
  return { ...tensor, data: all.fill(data[first] as never) as TensorData };
}

function changed(tensor: Tensor): Tensor {
  const { datatype, data } = tensor;
  if (!isNumeric(data)) return { ...tensor, data: data.map((one) => `${one}~`) };
  return { ...tensor, data: changedNumbers(datatype, data) };
}

function changedNumbers(datatype: Tensor['datatype'], data: NumericArray): NumericArray {
  if (datatype === 'FP16')
    return Uint16Array.from(decodeHalves(data as Uint16Array), (one) => encodeHalf(otherNumber(one)));
  if (datatype === 'BOOL') return Uint8Array.from(data as Uint8Array, (one) => 1 - one);
  if (data instanceof Float32Array || data instanceof Float64Array) return data.map(otherNumber);
  return data.slice().reverse();
}

const otherNumber = (value: number): number => value * 1.5 + 0.25;
