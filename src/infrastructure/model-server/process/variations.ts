import { decodeHalves, encodeHalf } from '../../onnx/float16.js';
import type { NumericArray } from './datatypes.js';
import { isNumeric, type Tensor, type TensorData, type Tensors } from './tensors.js';

/**
 * The same shapes with other values, so that whatever a model takes over all rows (the most, the least, a sum) comes out
 * differently for one of them. Integers are never made up: one that no caller sent may be no index, or divide by zero,
 * which ends the process.
 */
export const variations: readonly ((feeds: Tensors) => Tensors)[] = [
  (feeds) => feeds.map((tensor) => filled(tensor, (one, other) => one < other)),
  (feeds) => feeds.map((tensor) => filled(tensor, (one, other) => one > other)),
  (feeds) => feeds.map(changed),
];

type Ordered = number | bigint | string;

/** Of nothing but the element that comes before all others. */
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
  if (datatype === 'FP16') return Uint16Array.from(decodeHalves(data as Uint16Array), (one) => encodeHalf(larger(one)));
  if (datatype === 'BOOL') return Uint8Array.from(data as Uint8Array, (one) => 1 - one);
  if (data instanceof Float32Array || data instanceof Float64Array) return data.map(larger);
  return data.slice().reverse();
}

const larger = (value: number): number => value * 1.5 + 0.25;
