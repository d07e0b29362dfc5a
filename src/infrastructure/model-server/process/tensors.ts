import { decodeHalves } from '../../onnx/onnx-runtime.js';

/** The numeric element types, by their names in the Open Inference Protocol. */
export const datatypes = {
  BOOL: { runtime: 'bool', bytes: 1, array: Uint8Array },
  UINT8: { runtime: 'uint8', bytes: 1, array: Uint8Array },
  UINT16: { runtime: 'uint16', bytes: 2, array: Uint16Array },
  UINT32: { runtime: 'uint32', bytes: 4, array: Uint32Array },
  UINT64: { runtime: 'uint64', bytes: 8, array: BigUint64Array },
  INT8: { runtime: 'int8', bytes: 1, array: Int8Array },
  INT16: { runtime: 'int16', bytes: 2, array: Int16Array },
  INT32: { runtime: 'int32', bytes: 4, array: Int32Array },
  INT64: { runtime: 'int64', bytes: 8, array: BigInt64Array },
  /** Held as bits, because Node.js 20 has no Float16Array. */
  FP16: { runtime: 'float16', bytes: 2, array: Uint16Array },
  FP32: { runtime: 'float32', bytes: 4, array: Float32Array },
  FP64: { runtime: 'float64', bytes: 8, array: Float64Array },
} as const;

export type NumericDatatype = keyof typeof datatypes;
/** The element type BYTES means strings. */
export type Datatype = NumericDatatype | 'BYTES';
export type NumericArray = InstanceType<(typeof datatypes)[NumericDatatype]['array']>;

const byRuntimeType: ReadonlyMap<string, Datatype> = new Map<string, Datatype>([
  ['string', 'BYTES'],
  ...Object.entries(datatypes).map(([name, { runtime }]) => [runtime, name as Datatype] as const),
]);

export const datatypeOf = (runtimeType: string): Datatype | null => byRuntimeType.get(runtimeType) ?? null;

export const runtimeTypeOf = (datatype: Datatype): (typeof datatypes)[NumericDatatype]['runtime'] | 'string' =>
  datatype === 'BYTES' ? 'string' : datatypes[datatype].runtime;

/** A declared input or output. The size of a free dimension is -1. The shape [] is a scalar or an unknown shape. */
export interface TensorSpec {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
}

export interface Signature {
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
}

export type TensorData = NumericArray | readonly string[];

export interface Tensor {
  readonly datatype: Datatype;
  readonly shape: readonly number[];
  readonly data: TensorData;
}

/** All inputs or all outputs, in the order of the signature. */
export type Tensors = readonly Tensor[];

export const isNumeric = (data: TensorData): data is NumericArray => ArrayBuffer.isView(data);

/** Returns the memory of the tensors, for a transfer to another thread instead of a copy. */
export function buffersOf(tensors: Tensors): ArrayBuffer[] {
  const buffers = tensors.flatMap(({ data }) => (isNumeric(data) ? [data.buffer as ArrayBuffer] : []));
  return [...new Set(buffers)];
}

/** Returns the size of the data in bytes. Counts a string as 16 bytes. */
export const byteSizeOf = (tensors: Tensors): number =>
  tensors.reduce((sum, { data }) => sum + (isNumeric(data) ? data.byteLength : data.length * 16), 0);

/**
 * The tolerated difference, relative to the largest number of a tensor. It is larger than rounding errors and smaller
 * than the effect of another row.
 */
const TOLERANCE = 5e-5;
const HALF_TOLERANCE = 5e-3;

/** Returns whether all data are equal. The shapes must be equal already. */
export const equal = (some: Tensors, others: Tensors): boolean =>
  some.every(({ data }, at) => equalData(data, (others[at] as Tensor).data));

/** Returns whether two runs gave the same outputs, apart from rounding errors. */
export const almostEqual = (some: Tensors, others: Tensors): boolean =>
  some.every((tensor, at) => almostEqualTensors(tensor, others[at] as Tensor));

function almostEqualTensors(one: Tensor, other: Tensor): boolean {
  if (one.shape.join() !== other.shape.join()) return false;
  const tolerance = one.datatype === 'FP16' ? HALF_TOLERANCE : TOLERANCE;
  const [actual, expected] = [floatsOf(one), floatsOf(other)];
  if (!actual || !expected) return equalData(one.data, other.data);
  const scale = largestOf(expected);
  return actual.every((value: number, at: number) => {
    const wanted = expected[at] as number;
    return Object.is(value, wanted) || Math.abs(value - wanted) <= tolerance * scale;
  });
}

function largestOf(numbers: Iterable<number>): number {
  let largest = 0;
  for (const number of numbers) if (Number.isFinite(number)) largest = Math.max(largest, Math.abs(number));
  return largest;
}

const equalData = (some: TensorData, others: TensorData): boolean =>
  some.length === others.length && some.every((one: unknown, at: number) => Object.is(one, others[at]));

/** Returns the data as floats, or null for data that must be exactly equal. */
function floatsOf({ datatype, data }: Tensor): Float32Array | Float64Array | null {
  if (datatype === 'FP16') return decodeHalves(data as Uint16Array);
  return data instanceof Float32Array || data instanceof Float64Array ? data : null;
}
