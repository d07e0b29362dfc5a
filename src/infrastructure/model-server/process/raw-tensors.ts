import { datatypes, type NumericArray, type NumericDatatype } from './datatypes.js';
import { Wrong } from './findings.js';
import { stringProblem } from './json-elements.js';
import { checkCount, elementsOf, shapeText } from './shapes.js';
import { isNumeric, type Tensor, type TensorSpec } from './tensors.js';

const LENGTH_BYTES = 4;

/**
 * A tensor of which the elements are given as raw bytes, little-endian. It keeps these very bytes where they lie at a
 * multiple of their size, so the memory must not be anybody else's. Throws Wrong.
 */
export function rawTensor(spec: TensorSpec, shape: readonly number[], bytes: Uint8Array, path: string): Tensor {
  const { datatype } = spec;
  if (datatype === 'BYTES') return { datatype, shape, data: strings(spec, shape, bytes, path) };
  const needed = elementsOf(shape) * datatypes[datatype].bytes;
  if (bytes.length !== needed) {
    const text = `input "${spec.name}" of shape ${shapeText(shape)} and type ${datatype} needs ${needed} bytes`;
    throw new Wrong(path, `${text}, not ${bytes.length}`);
  }
  if (datatype === 'BOOL') {
    const odd = bytes.findIndex((byte) => byte > 1);
    if (odd >= 0) throw new Wrong(path, `element ${odd} of input "${spec.name}" must be the byte 0 or 1`);
  }
  return { datatype, shape, data: numbers(datatype, bytes) };
}

function numbers(datatype: NumericDatatype, bytes: Uint8Array): NumericArray {
  const { array, bytes: size } = datatypes[datatype];
  const aligned = bytes.byteOffset % size === 0 ? bytes : Uint8Array.from(bytes);
  return new array(aligned.buffer as ArrayBuffer, aligned.byteOffset, aligned.length / size);
}

/** A byte-order mark is text here. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function strings(spec: TensorSpec, shape: readonly number[], bytes: Uint8Array, path: string): string[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const found: string[] = [];
  const most = elementsOf(shape);
  for (let at = 0; at < view.length; ) {
    if (found.length === most) throw new Wrong(path, `input "${spec.name}" has more bytes than its ${most} elements`);
    const element = `element ${found.length} of input "${spec.name}"`;
    const begin = at + LENGTH_BYTES;
    const end = begin <= view.length ? begin + view.readUInt32LE(at) : Number.POSITIVE_INFINITY;
    if (end > view.length) throw new Wrong(path, `${element} is cut off`);
    found.push(text(view.subarray(begin, end), element, path));
    at = end;
  }
  checkCount(spec, shape, found.length, path);
  return found;
}

function text(bytes: Uint8Array, element: string, path: string): string {
  let decoded: string;
  try {
    decoded = strictUtf8.decode(bytes);
  } catch {
    throw new Wrong(path, `${element} is not UTF-8`);
  }
  const problem = stringProblem(decoded);
  if (problem) throw new Wrong(path, `${element} ${problem}`);
  return decoded;
}

/** The elements as raw bytes, little-endian. */
export function rawBytes({ data }: Tensor): Uint8Array {
  if (isNumeric(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return Buffer.concat(
    data.flatMap((one) => {
      const bytes = Buffer.from(one);
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    }),
  );
}

/** The alignment that suits every datatype. */
export const ALIGNMENT = Math.max(...Object.values(datatypes).map(({ bytes }) => bytes));
