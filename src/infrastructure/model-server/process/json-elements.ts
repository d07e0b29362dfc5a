import { encodeHalf } from '../../onnx/float16.js';
import { type Datatype, datatypes, type NumericArray } from './datatypes.js';
import { kindOf, shown } from './findings.js';
import type { TensorData } from './tensors.js';

/** An element as the tensor holds it. Throws WrongElement. */
type Convert = (value: unknown) => number | bigint | string;

class WrongElement extends Error {}

/** What numbers that JSON has no words for are called. */
const WORDS: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

const float =
  (datatype: Datatype, limit: number): ((value: unknown) => number) =>
  (value) => {
    if (typeof value === 'number' && Math.abs(value) < limit) return value;
    const word = WORDS.get(value);
    if (word !== undefined) return word;
    if (typeof value !== 'number' && typeof value !== 'bigint') return wrong(datatype, 'a number', value);
    const number = Number(value);
    if (Math.abs(number) < limit) return number;
    throw new WrongElement(`is beyond the range of ${datatype}`);
  };

// From halfway to what would be the next larger number, a number rounds to infinity.
const single = float('FP32', 2 ** 128 - 2 ** 103);
const withinHalf = float('FP16', 65_520);
const half: Convert = (value) => encodeHalf(withinHalf(value));

const integer =
  (datatype: Datatype, least: number, most: number): Convert =>
  (value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    if (typeof value !== 'number' && typeof value !== 'bigint') return wrong(datatype, 'a whole number', value);
    return outside(datatype, value, least, most);
  };

const longInteger =
  (datatype: Datatype, least: bigint, most: bigint): Convert =>
  (value) => {
    if (typeof value === 'number' && !Number.isInteger(value)) return outside(datatype, value, least, most);
    const exact = exactInteger(value);
    if (exact === null) return wrong(datatype, 'a whole number, or one as a string of digits', value);
    return exact >= least && exact <= most ? exact : outside(datatype, exact, least, most);
  };

/** Null where the value doesn't tell an integer exactly. */
function exactInteger(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : null;
}

function outside(datatype: Datatype, value: number | bigint, least: number | bigint, most: number | bigint): never {
  const whole = typeof value === 'bigint' || Number.isInteger(value);
  const problem = whole ? `is outside the range of ${datatype}, ${least} to ${most}` : 'is not a whole number';
  throw new WrongElement(`(${shown(String(value))}) ${problem}`);
}

const boolean: Convert = (value) => {
  if (typeof value !== 'boolean') return wrong('BOOL', 'true or false', value);
  return value ? 1 : 0;
};

const string: Convert = (value) => {
  if (typeof value !== 'string') return wrong('BYTES', 'a string', value);
  const problem = stringProblem(value);
  if (problem) throw new WrongElement(problem);
  return value;
};

/** The runtime would cut the string off, or put something else in its place. */
export function stringProblem(text: string): string | null {
  if (text.includes('\0')) return 'must not contain the NUL character';
  return text.isWellFormed() ? null : 'must not contain half of a surrogate pair';
}

function wrong(datatype: Datatype, expected: string, value: unknown): never {
  throw new WrongElement(`must be ${expected} (${datatype}), not ${kindOf(value)}`);
}

const converts: Readonly<Record<Datatype, Convert>> = {
  BOOL: boolean,
  UINT8: integer('UINT8', 0, 0xff),
  UINT16: integer('UINT16', 0, 0xffff),
  UINT32: integer('UINT32', 0, 0xffff_ffff),
  UINT64: longInteger('UINT64', 0n, 2n ** 64n - 1n),
  INT8: integer('INT8', -0x80, 0x7f),
  INT16: integer('INT16', -0x8000, 0x7fff),
  INT32: integer('INT32', -0x8000_0000, 0x7fff_ffff),
  INT64: longInteger('INT64', -(2n ** 63n), 2n ** 63n - 1n),
  FP16: half,
  FP32: single,
  FP64: float('FP64', Number.POSITIVE_INFINITY),
  BYTES: string,
};

/** The shape of a nested array, from the first of each level. */
export function nestedShape(value: unknown): number[] {
  const shape: number[] = [];
  for (let one = value; Array.isArray(one); one = one[0]) shape.push(one.length);
  return shape;
}

/** Says where a nested array is not of this shape, down to its innermost arrays; null where it is. */
export function unevenAt(value: unknown, shape: readonly number[], level = 0): string | null {
  if (level === shape.length) return null;
  if (!Array.isArray(value)) return `is ${kindOf(value)} where an array is due`;
  if (value.length !== shape[level]) return `has ${value.length} elements, the first of its level has ${shape[level]}`;
  if (level === shape.length - 1) return null;
  for (let at = 0; at < value.length; at++) {
    const problem = unevenAt(value[at], shape, level + 1);
    if (problem) return problem.startsWith('[') ? `[${at}]${problem}` : `[${at}] ${problem}`;
  }
  return null;
}

/** What is wrong with the first element that is wrong. */
export interface WrongAt {
  readonly index: number;
  readonly problem: string;
}

/** The elements of a nested array that is known to be even and to have `count` of them. */
export function flatElements(value: unknown, datatype: Datatype, levels: number, count: number): TensorData | WrongAt {
  const convert = converts[datatype];
  const data = datatype === 'BYTES' ? new Array<string>(count) : new datatypes[datatype].array(count);
  let index = 0;
  const fill = (from: unknown, below: number): void => {
    if (below === 0) {
      data[index] = convert(from) as never;
      index++;
    } else if (below === 1) {
      const row = from as unknown[];
      for (let at = 0; at < row.length; at++) {
        data[index] = convert(row[at]) as never;
        index++;
      }
    } else for (const one of from as unknown[]) fill(one, below - 1);
  };
  try {
    fill(value, levels);
    return data as NumericArray | string[];
  } catch (error) {
    if (error instanceof WrongElement) return { index, problem: error.message };
    throw error;
  }
}
