import { elementsOf, jsonShape, stringProblem, unevenAt } from './elements.js';
import { InvalidField, kindOf, shortened } from './request-error.js';
import { datatypes, type NumericArray, type NumericDatatype, type Tensor, type TensorSpec } from './tensors.js';

/** Limits the product of the dimensions that are not 0 in an empty tensor. Some operators allocate memory for them. */
const MAX_EMPTY = 2 ** 20;
const MAX_DIMENSIONS = 32;
/** Each BYTES element has its length before it. */
const LENGTH_BYTES = 4;

/** A tensor in JSON: nested arrays, or a flat array with a shape. */
export interface JsonTensor {
  readonly data: unknown;
  readonly shape?: unknown;
  readonly datatype?: unknown;
}

export const shapeText = (shape: readonly number[]): string => `[${shape.join(',')}]`;

export const countOf = (shape: readonly number[]): number => shape.reduce((count, size) => count * size, 1);

/** Reads a tensor whose elements are JSON values. Throws InvalidField. */
export function tensorOfJson(spec: TensorSpec, tensor: JsonTensor, path: string): Tensor {
  const { data } = tensor;
  checkDatatype(spec, tensor.datatype, path);
  if (data === undefined) throw new InvalidField(path, `input "${spec.name}" has no data`);
  const nested = jsonShape(data);
  const shape = tensor.shape === undefined ? nested : readShape(tensor.shape, path);
  checkShape(spec, shape, tensor.shape === undefined ? path : `${path}.shape`);
  const uneven = unevenAt(data, nested);
  if (uneven)
    throw new InvalidField(path, `input "${spec.name}" has nested arrays that differ in length or depth: ${uneven}`);
  const isFlat = nested.length <= 1;
  if (!isFlat && shapeText(nested) !== shapeText(shape)) {
    const message = `input "${spec.name}" is nested as ${shapeText(nested)}, its shape says ${shapeText(shape)}`;
    throw new InvalidField(path, message);
  }
  const count = countOf(nested);
  checkCount(spec, shape, count, path);
  const elements = elementsOf(data, spec.datatype, nested.length, count);
  if ('problem' in elements)
    throw new InvalidField(path, `element ${elements.index} of input "${spec.name}" ${elements.problem}`);
  return { datatype: spec.datatype, shape, data: elements };
}

/** Reads a tensor whose raw bytes are given in base64. Throws InvalidField. */
export function tensorOfBase64(spec: TensorSpec, text: string, tensor: JsonTensor, path: string): Tensor {
  if (tensor.shape === undefined) {
    checkDatatype(spec, tensor.datatype, path);
    throw new InvalidField(path, `input "${spec.name}" is in base64, which needs a shape`);
  }
  return tensorOfBytes(spec, tensor, path, () => {
    // A small Buffer usually shares its memory with others. This one has its own.
    const memory = Buffer.allocUnsafeSlow(Buffer.byteLength(text, 'base64'));
    const bytes = memory.subarray(0, memory.write(text, 'base64'));
    // The decoder skips characters that are not base64.
    if (text.replace(/={1,2}$/, '').length !== Math.ceil((bytes.length * 4) / 3))
      throw new InvalidField(`${path}.data`, `input "${spec.name}" is a string that is not base64`);
    return bytes;
  });
}

/**
 * Reads a tensor from raw little-endian bytes. Uses the bytes without a copy if they are aligned, so nobody else may
 * use their memory. Throws InvalidField.
 */
export function tensorOfBytes(
  spec: TensorSpec,
  tensor: Omit<JsonTensor, 'data'>,
  path: string,
  read: () => Uint8Array,
): Tensor {
  const { name, datatype } = spec;
  checkDatatype(spec, tensor.datatype, path);
  const shape = readShape(tensor.shape, path);
  checkShape(spec, shape, `${path}.shape`);
  const bytes = read();
  if (datatype === 'BYTES') return { datatype, shape, data: readStrings(spec, shape, bytes, path) };
  const needed = countOf(shape) * datatypes[datatype].bytes;
  if (bytes.length !== needed) {
    const message = `input "${name}" of shape ${shapeText(shape)} and type ${datatype} needs ${needed} bytes`;
    throw new InvalidField(path, `${message}, not ${bytes.length}`);
  }
  const invalid = datatype === 'BOOL' ? bytes.findIndex((byte) => byte > 1) : -1;
  if (invalid >= 0) throw new InvalidField(path, `element ${invalid} of input "${name}" must be the byte 0 or 1`);
  return { datatype, shape, data: numbersOf(datatype, bytes) };
}

function checkDatatype({ name, datatype }: TensorSpec, requested: unknown, path: string): void {
  if (requested === undefined || requested === datatype) return;
  const wrong = typeof requested === 'string' ? shortened(requested) : kindOf(requested);
  throw new InvalidField(`${path}.datatype`, `input "${name}" takes ${datatype}, not ${wrong}`);
}

function readShape(value: unknown, tensorPath: string): number[] {
  const path = `${tensorPath}.shape`;
  if (!Array.isArray(value)) throw new InvalidField(path, `must be an array of dimensions, not ${kindOf(value)}`);
  if (value.length > MAX_DIMENSIONS) throw new InvalidField(path, `must have at most ${MAX_DIMENSIONS} dimensions`);
  for (const [at, size] of value.entries()) {
    if (Number.isSafeInteger(size) && size >= 0) continue;
    const wrong = typeof size === 'number' || typeof size === 'bigint' ? String(size) : kindOf(size);
    throw new InvalidField(`${path}[${at}]`, `must be a whole number from 0, not ${shortened(wrong)}`);
  }
  return value as number[];
}

/** Throws InvalidField if the model does not take this shape. Must run before memory is allocated for the shape. */
function checkShape({ name, shape: expected }: TensorSpec, shape: readonly number[], path: string): void {
  // The expected shape [] may be a scalar or unknown. Then the model itself decides.
  const isKnown = expected.length > 0;
  const fits = shape.length === expected.length && expected.every((one, at) => one < 0 || one === shape[at]);
  if (isKnown && !fits) {
    const why = shape.length === expected.length ? '' : ` (${expected.length} dimensions, not ${shape.length})`;
    throw new InvalidField(
      path,
      `input "${name}" takes the shape ${shapeText(expected)}, not ${shapeText(shape)}${why}`,
    );
  }
  if (shape.includes(0) && countOf(shape.map((size) => size || 1)) > MAX_EMPTY)
    throw new InvalidField(path, `input "${name}" is empty; the other dimensions of ${shapeText(shape)} are too large`);
}

function checkCount({ name }: TensorSpec, shape: readonly number[], actual: number, path: string): void {
  const expected = countOf(shape);
  if (actual !== expected) {
    const message = `input "${name}" of shape ${shapeText(shape)} needs ${expected} elements, not ${actual}`;
    throw new InvalidField(path, message);
  }
}

function numbersOf(datatype: NumericDatatype, bytes: Uint8Array): NumericArray {
  const { array, bytes: size } = datatypes[datatype];
  const aligned = bytes.byteOffset % size === 0 ? bytes : Uint8Array.from(bytes);
  return new array(aligned.buffer as ArrayBuffer, aligned.byteOffset, aligned.length / size);
}

function readStrings(spec: TensorSpec, shape: readonly number[], bytes: Uint8Array, path: string): string[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const strings: string[] = [];
  const most = countOf(shape);
  for (let at = 0; at < view.length; ) {
    if (strings.length === most)
      throw new InvalidField(path, `input "${spec.name}" has more bytes after its ${most} elements`);
    const element = `element ${strings.length} of input "${spec.name}"`;
    const begin = at + LENGTH_BYTES;
    const end = begin <= view.length ? begin + view.readUInt32LE(at) : Number.POSITIVE_INFINITY;
    if (end > view.length) throw new InvalidField(path, `${element} is cut off`);
    strings.push(readString(view.subarray(begin, end), element, path));
    at = end;
  }
  checkCount(spec, shape, strings.length, path);
  return strings;
}

/** `ignoreBOM` keeps a byte-order mark as text. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readString(bytes: Uint8Array, element: string, path: string): string {
  let text: string;
  try {
    text = strictUtf8.decode(bytes);
  } catch {
    throw new InvalidField(path, `${element} is not UTF-8`);
  }
  const problem = stringProblem(text);
  if (problem) throw new InvalidField(path, `${element} ${problem}`);
  return text;
}
