import { kindOf, shown, Wrong } from './findings.js';
import type { TensorSpec } from './tensors.js';

/** Beside a 0 any dimension is free of data, and some operators allocate by it. */
const LARGEST_EMPTY = 2 ** 20;
const MOST_DIMENSIONS = 32;

export const shapeText = (shape: readonly number[]): string => `[${shape.join(',')}]`;

export const elementsOf = (shape: readonly number[]): number => shape.reduce((count, size) => count * size, 1);

/** A shape as JSON gives it. Throws Wrong. */
export function readShape(value: unknown, path: string): number[] {
  if (!Array.isArray(value)) throw new Wrong(path, `must be an array of dimensions, not ${kindOf(value)}`);
  if (value.length > MOST_DIMENSIONS) throw new Wrong(path, `must have at most ${MOST_DIMENSIONS} dimensions`);
  for (const [at, size] of value.entries()) {
    if (!Number.isSafeInteger(size) || size < 0)
      throw new Wrong(`${path}[${at}]`, `must be a whole number from 0, not ${shown(dimensionText(size))}`);
  }
  return value as number[];
}

const dimensionText = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'bigint' ? String(value) : kindOf(value);

/** Throws Wrong where the model doesn't take a tensor of this shape. Nothing is allocated before this has passed. */
export function checkShape({ name, shape: expected }: TensorSpec, shape: readonly number[], path: string): void {
  // A scalar and an unknown shape look the same: the model itself decides.
  const known = expected.length > 0;
  const fits =
    !known || (shape.length === expected.length && expected.every((one, at) => one < 0 || one === shape[at]));
  if (!fits) {
    const why = shape.length === expected.length ? '' : ` (${expected.length} dimensions, not ${shape.length})`;
    throw new Wrong(path, `input "${name}" takes the shape ${shapeText(expected)}, not ${shapeText(shape)}${why}`);
  }
  if (shape.includes(0) && elementsOf(shape.map((size) => size || 1)) > LARGEST_EMPTY)
    throw new Wrong(path, `input "${name}" is empty; the other dimensions of ${shapeText(shape)} are too large`);
}

/** Throws Wrong where a shape doesn't have as many elements as there are. */
export function checkCount({ name }: TensorSpec, shape: readonly number[], given: number, path: string): void {
  const expected = elementsOf(shape);
  if (given !== expected)
    throw new Wrong(path, `input "${name}" of shape ${shapeText(shape)} needs ${expected} elements, not ${given}`);
}
