/**
 * Converts 16-bit floats, which ONNX Runtime takes and returns as bits in a Uint16Array. Shortens the errors of ONNX
 * Runtime for readers. A thread that runs a model must import this file before it makes its first tensor.
 */
import { sep } from 'node:path';

// Newer versions of Node.js have a Float16Array. ONNX Runtime then reads 16-bit floats from it, but finds no data
// (issue 32323 of microsoft/onnxruntime). Without a Float16Array it reads the bits of a Uint16Array.
Reflect.deleteProperty(globalThis, 'Float16Array');

/** Returns the options of a session. Its threads do not spin while they wait, so others get the processor. */
export const sessionOptions = (threads: number) => ({
  intraOpNumThreads: threads,
  interOpNumThreads: 1,
  ...(threads > 1 && { extra: { session: { intra_op: { allow_spinning: '0' } } } }),
});

let table: Float32Array | undefined;

/** Converts the bits of 16-bit floats to numbers. */
export function decodeHalves(bits: Uint16Array): Float32Array {
  table ??= Float32Array.from({ length: 65_536 }, (_, one) => decodeHalf(one));
  const numbers = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) numbers[i] = table[bits[i] as number] as number;
  return numbers;
}

function decodeHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1_024) * 2 ** (exponent - 15);
}

/** Returns the bits of the nearest 16-bit float. Rounds ties to even. Turns too large values into infinity. */
export function encodeHalf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return sign | 0x7e00;
  if (size >= 65_520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(size)));
  const unit = 2 ** (exponent - 10);
  const units = roundToEven(size / unit);
  // If rounding overflows the fraction, the addition raises the exponent by one.
  return sign | (units < 1_024 ? units : ((exponent + 15) << 10) + units - 1_024);
}

function roundToEven(value: number): number {
  const down = Math.floor(value);
  const over = value - down;
  return over > 0.5 || (over === 0.5 && down % 2 === 1) ? down + 1 : down;
}

const LONGEST = 500;
const LOADING = /^Load model from .*? failed:\s*/;

/** Matches a place in the source code of ONNX Runtime: the file, the line, and perhaps the function. */
const SOURCE = /(?:\S*\/)?[\w.-]+\.(?:cc|cpp|h|hpp):\d+ (?:[\w:~<> ]+\(.*?\) |[\w:~]+ )?/g;

export function firstLineOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).trim().split('\n');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/** Returns the first line of an error of ONNX Runtime, without the places in its own source. */
export const nativeMessageOf = (error: unknown): string => firstLineOf(error).replace(LOADING, '').replace(SOURCE, '');

/**
 * Makes paths of files in the folder relative to it. Shortens other paths with the same first folder, such as `/home`,
 * to their file name. Does not change other texts that look like paths, because nodes of a network have such names.
 */
export function relativeTo(folder: string, text: string): string {
  const [, root] = folder.split(sep);
  return text
    .replaceAll(`${folder}/`, '')
    .replace(/(?<![\w.])\/[^\s'"]*\//g, (path) => (path.startsWith(`/${root}/`) ? '' : path));
}
