import { decodeHalves } from '../../onnx/float16.js';
import type { Tensor, TensorData, Tensors } from './tensors.js';

/** Of the largest number in a tensor: more than rounding ever makes, less than rows that see each other. */
const TOLERANCE = 5e-5;
const HALF_TOLERANCE = 5e-3;

/** Whether two runs gave the same, but for rounding. */
export const close = (some: Tensors, others: Tensors): boolean =>
  some.every((tensor, at) => closeTensors(tensor, others[at] as Tensor));

export const same = (some: Tensors, others: Tensors): boolean =>
  some.every(({ data }, at) => equalData(data, (others[at] as Tensor).data));

const equalData = (some: TensorData, others: TensorData): boolean =>
  some.length === others.length && some.every((one: unknown, at: number) => Object.is(one, others[at]));

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
