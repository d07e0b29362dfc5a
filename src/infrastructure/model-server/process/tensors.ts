import type { Datatype, NumericArray } from './datatypes.js';

/** An input or output as the model declares it; a free dimension is -1. A shape of [] may also be an unknown one. */
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

/** In the order of the signature's inputs or outputs. */
export type Tensors = readonly Tensor[];

export const isNumeric = (data: TensorData): data is NumericArray => ArrayBuffer.isView(data);

/** The memory of the tensors, to be handed to another thread instead of copied. */
export function buffersOf(tensors: Iterable<Tensor>): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const { data } of tensors) if (isNumeric(data)) buffers.add(data.buffer as ArrayBuffer);
  return [...buffers];
}

export const bytesOf = (tensors: Tensors): number =>
  tensors.reduce((sum, { data }) => sum + (isNumeric(data) ? data.byteLength : data.length * 16), 0);
