import type { TensorSpec } from '../process/tensors.js';

/** The inputs and outputs of a model in the metadata of its engine. Both are empty if the engine gives no metadata. */
export interface EngineSignature {
  readonly inputs: readonly EngineTensor[];
  readonly outputs: readonly EngineTensor[];
}

/** The engine may know more datatypes than the service. */
type EngineTensor = Omit<TensorSpec, 'datatype'> & { readonly datatype: string };

/** Reads the inputs and outputs from the metadata of a model. Leaves out those without a name or a datatype. */
export function signatureOf(metadata: unknown): EngineSignature {
  return { inputs: tensorsOf(own(metadata, 'inputs')), outputs: tensorsOf(own(metadata, 'outputs')) };
}

const MOST_TENSORS = 1_000;

function tensorsOf(list: unknown): EngineTensor[] {
  if (!Array.isArray(list) || list.length > MOST_TENSORS) return [];
  return list.flatMap((one: unknown) => {
    const [name, datatype, shape] = ['name', 'datatype', 'shape'].map((key) => own(one, key));
    if (typeof name !== 'string' || typeof datatype !== 'string') return [];
    const sizes = Array.isArray(shape) ? shape.map(Number) : []; // some engines write sizes as strings
    return [{ name, datatype, shape: sizes.every(Number.isSafeInteger) ? sizes : [] }];
  });
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the own member of an object, and undefined for anything else. */
export const own = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
