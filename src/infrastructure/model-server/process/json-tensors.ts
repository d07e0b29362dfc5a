import { kindOf, shown, Wrong } from './findings.js';
import { flatElements, nestedShape, unevenAt } from './json-elements.js';
import { rawTensor } from './raw-tensors.js';
import { checkCount, checkShape, elementsOf, readShape, shapeText } from './shapes.js';
import type { Tensor, TensorSpec } from './tensors.js';

/** A tensor as JSON gives it: nested arrays, or flat ones together with a shape. */
export interface GivenTensor {
  readonly data: unknown;
  readonly shape?: unknown;
  readonly datatype?: unknown;
}

/** Throws Wrong. */
export function jsonTensor(spec: TensorSpec, given: GivenTensor, path: string): Tensor {
  const { data, datatype } = given;
  checkDatatype(spec, datatype, `${path}.datatype`);
  if (data === undefined) throw new Wrong(path, `input "${spec.name}" has no data`);
  const nested = nestedShape(data);
  const shape = given.shape === undefined ? nested : readShape(given.shape, `${path}.shape`);
  checkShape(spec, shape, given.shape === undefined ? path : `${path}.shape`);
  const uneven = unevenAt(data, nested);
  if (uneven) throw new Wrong(path, `input "${spec.name}" is not an even array: ${uneven}`);
  const isFlat = nested.length <= 1;
  if (!isFlat && shapeText(nested) !== shapeText(shape))
    throw new Wrong(path, `input "${spec.name}" is nested as ${shapeText(nested)}, its shape says ${shapeText(shape)}`);
  const count = elementsOf(nested);
  checkCount(spec, shape, count, path);
  const elements = flatElements(data, spec.datatype, nested.length, count);
  if ('problem' in elements)
    throw new Wrong(path, `element ${elements.index} of input "${spec.name}" ${elements.problem}`);
  return { datatype: spec.datatype, shape, data: elements };
}

/** A tensor of which the raw bytes are given in base64. Throws Wrong. */
export function base64Tensor(spec: TensorSpec, text: string, given: GivenTensor, path: string): Tensor {
  checkDatatype(spec, given.datatype, `${path}.datatype`);
  if (given.shape === undefined) throw new Wrong(path, `input "${spec.name}" is in base64, which needs a shape`);
  const shape = readShape(given.shape, `${path}.shape`);
  checkShape(spec, shape, `${path}.shape`);
  // Memory of its own: small buffers usually share one.
  const memory = Buffer.allocUnsafeSlow(Buffer.byteLength(text, 'base64'));
  const bytes = memory.subarray(0, memory.write(text, 'base64'));
  // The decoder skips what is no base64.
  if (text.replace(/={1,2}$/, '').length !== Math.ceil((bytes.length * 4) / 3))
    throw new Wrong(`${path}.data`, `input "${spec.name}" is a string that is not base64`);
  return rawTensor(spec, shape, bytes, path);
}

export function checkDatatype({ name, datatype }: TensorSpec, given: unknown, path: string): void {
  if (given === undefined || given === datatype) return;
  const what = typeof given === 'string' ? shown(given) : kindOf(given);
  throw new Wrong(path, `input "${name}" takes ${datatype}, not ${what}`);
}
