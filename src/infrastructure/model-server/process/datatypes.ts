/** Every element type that the runtime can hold, by its name in the Open Inference Protocol. */
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
  /** Kept as its bits: not every JavaScript has an array of such numbers. */
  FP16: { runtime: 'float16', bytes: 2, array: Uint16Array },
  FP32: { runtime: 'float32', bytes: 4, array: Float32Array },
  FP64: { runtime: 'float64', bytes: 8, array: Float64Array },
} as const;

export type NumericDatatype = keyof typeof datatypes;
/** BYTES are strings. */
export type Datatype = NumericDatatype | 'BYTES';
export type NumericArray = InstanceType<(typeof datatypes)[NumericDatatype]['array']>;
export type RuntimeType = (typeof datatypes)[NumericDatatype]['runtime'] | 'string';

const byRuntime: ReadonlyMap<string, Datatype> = new Map<string, Datatype>([
  ['string', 'BYTES'],
  ...Object.entries(datatypes).map(([name, { runtime }]) => [runtime, name as Datatype] as const),
]);

/** Null for a type that the runtime names but can't be given. */
export const datatypeOf = (runtime: string): Datatype | null => byRuntime.get(runtime) ?? null;

export const runtimeTypeOf = (datatype: Datatype): RuntimeType =>
  datatype === 'BYTES' ? 'string' : datatypes[datatype].runtime;
