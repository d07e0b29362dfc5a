import { encodeHalf } from '../../onnx/onnx-runtime.js';
import { kindOf, shortened } from './request-error.js';
import { type Datatype, datatypes, type NumericArray, type TensorData } from './tensors.js';

/** Converts a JSON value to an element of a tensor. Throws InvalidElement. */
type Convert = (value: unknown) => number | bigint | string;

class InvalidElement extends Error {}

/** The spellings of the numbers that JSON lacks. */
const SPECIAL_NUMBERS: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** Returns the conversion to a float type. Refuses numbers from `limit` on, because they would round to infinity. */
const float =
  (datatype: Datatype, limit: number): ((value: unknown) => number) =>
  (value) => {
    if (typeof value === 'number' && Math.abs(value) < limit) return value;
    const special = SPECIAL_NUMBERS.get(value);
    if (special !== undefined) return special;
    if (typeof value !== 'number' && typeof value !== 'bigint') return wrongKind(datatype, 'a number', value);
    const number = Number(value);
    if (Math.abs(number) < limit) return number;
    throw new InvalidElement(`is beyond the range of ${datatype}`);
  };

const withinHalf = float('FP16', 65_520);

const integer =
  (datatype: Datatype, least: number, most: number): Convert =>
  (value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    if (typeof value !== 'number' && typeof value !== 'bigint') return wrongKind(datatype, 'a whole number', value);
    return outOfRange(datatype, value, least, most);
  };

const longInteger =
  (datatype: Datatype, least: bigint, most: bigint): Convert =>
  (value) => {
    if (typeof value === 'number' && !Number.isInteger(value)) return outOfRange(datatype, value, least, most);
    const exact = exactInteger(value);
    if (exact === null) return wrongKind(datatype, 'a whole number, or one as a string of digits', value);
    return exact >= least && exact <= most ? exact : outOfRange(datatype, exact, least, most);
  };

/** Returns null for a value that is not exactly an integer. */
function exactInteger(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value;
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? BigInt(value) : null;
}

function outOfRange(datatype: Datatype, value: number | bigint, least: number | bigint, most: number | bigint): never {
  const isWhole = typeof value === 'bigint' || Number.isInteger(value);
  const problem = isWhole ? `is outside the range of ${datatype}, ${least} to ${most}` : 'is not a whole number';
  throw new InvalidElement(`(${shortened(String(value))}) ${problem}`);
}

function wrongKind(datatype: Datatype, expected: string, value: unknown): never {
  throw new InvalidElement(`must be ${expected} (${datatype}), not ${kindOf(value)}`);
}

function boolean(value: unknown): number {
  if (typeof value !== 'boolean') return wrongKind('BOOL', 'true or false', value);
  return value ? 1 : 0;
}

function string(value: unknown): string {
  if (typeof value !== 'string') return wrongKind('BYTES', 'a string', value);
  const problem = stringProblem(value);
  if (problem) throw new InvalidElement(problem);
  return value;
}

/** Returns the problem of a string that ONNX Runtime would cut off or change, and null for other strings. */
export function stringProblem(text: string): string | null {
  if (text.includes('\0')) return 'must not contain the NUL character';
  return text.isWellFormed() ? null : 'must not contain half of a surrogate pair';
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
  FP16: (value) => encodeHalf(withinHalf(value)),
  FP32: float('FP32', 2 ** 128 - 2 ** 103),
  FP64: float('FP64', Number.POSITIVE_INFINITY),
  BYTES: string,
};

/** Returns the shape of a nested array. Looks only at the first element of each level. */
export function jsonShape(value: unknown): number[] {
  const shape: number[] = [];
  for (let level = value; Array.isArray(level); level = level[0]) shape.push(level.length);
  return shape;
}

/** Returns the first place where a nested array differs from `shape`, or null. Does not look at the elements. */
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

/** The numbers that `JSON.parse` makes of the largest values, because a double rounds them up. */
const ROUNDED_LARGEST = { INT64: 2n ** 63n, UINT64: 2n ** 64n } as const;

export interface ElementProblem {
  readonly index: number;
  readonly problem: string;
}

/**
 * Returns the first element of a nested array without a value of the type, or null. Takes whole numbers that a double
 * rounds, because whoever passes on the text itself keeps their digits.
 */
export function elementProblem(value: unknown, datatype: Datatype): ElementProblem | null {
  let index = 0;
  const find = (one: unknown): string | null => {
    if (Array.isArray(one)) {
      for (const inner of one) {
        const problem = find(inner);
        if (problem) return problem;
      }
      return null;
    }
    const problem = problemOf(one, datatype);
    if (!problem) index++;
    return problem;
  };
  const problem = find(value);
  return problem === null ? null : { index, problem };
}

function problemOf(value: unknown, datatype: Datatype): string | null {
  const isLong = datatype === 'INT64' || datatype === 'UINT64';
  const exact = isLong && typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
  if (isLong && exact === ROUNDED_LARGEST[datatype]) return null;
  try {
    converts[datatype](exact);
    return null;
  } catch (error) {
    if (error instanceof InvalidElement) return error.message;
    throw error;
  }
}

/** Converts the `count` elements of an evenly nested array, or returns the first problem of an element. */
export function elementsOf(
  value: unknown,
  datatype: Datatype,
  levels: number,
  count: number,
): TensorData | ElementProblem {
  const convert = converts[datatype];
  const data = datatype === 'BYTES' ? new Array<string>(count) : new datatypes[datatype].array(count);
  let index = 0;
  const fill = (from: unknown, levelsBelow: number): void => {
    if (levelsBelow === 0) {
      data[index] = convert(from) as never;
      index++;
    } else if (levelsBelow === 1) {
      // The innermost arrays have most of the elements, so they get a loop instead of a call for each element.
      const row = from as unknown[];
      for (let at = 0; at < row.length; at++) {
        data[index] = convert(row[at]) as never;
        index++;
      }
    } else for (const one of from as unknown[]) fill(one, levelsBelow - 1);
  };
  try {
    fill(value, levels);
    return data as NumericArray | string[];
  } catch (error) {
    if (error instanceof InvalidElement) return { index, problem: error.message };
    throw error;
  }
}
