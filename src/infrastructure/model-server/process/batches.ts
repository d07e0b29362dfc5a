import { isNumeric, type Signature, type Tensor, type TensorData, type Tensors } from './tensors.js';

/** Returns whether every input and output has a free first dimension, which may be one of rows. */
export const hasRows = ({ inputs, outputs }: Signature): boolean =>
  inputs.length > 0 && [...inputs, ...outputs].every(({ shape }) => shape[0] === -1);

/** Returns the number of rows, or 0 if the tensors disagree. */
export function rowsOf(tensors: Tensors): number {
  const [rows = 0] = tensors[0]?.shape ?? [];
  return tensors.every(({ shape }) => shape[0] === rows) ? rows : 0;
}

/** Returns a key that is equal for inputs whose rows can run together. */
export const batchKey = (tensors: Tensors): string => tensors.map(({ shape }) => shape.slice(1).join()).join(';');

/** Concatenates the rows of several requests. */
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

/** Splits the outputs of joined rows again. Returns null if they do not have one row for each. */
export function splitRows(outputs: Tensors, rows: readonly number[]): Tensor[][] | null {
  const total = rows.reduce((sum, one) => sum + one, 0);
  if (outputs.some(({ shape }) => shape[0] !== total)) return null;
  let begin = 0;
  return rows.map((count) => {
    const part = outputs.map(({ datatype, shape, data }) => {
      const width = data.length / total;
      const own = data.slice(begin * width, (begin + count) * width) as TensorData;
      return { datatype, shape: [count, ...shape.slice(1)], data: own };
    });
    begin += count;
    return part;
  });
}
