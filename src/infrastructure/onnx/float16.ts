/**
 * Converts 16-bit floats. ONNX Runtime takes and gives them as their bits, in a Uint16Array.
 * A thread that runs a model must import this file before its first tensor is made.
 */

// Newer versions of Node.js have a Float16Array. The native library then uses it, and finds no data in it
// (issue 32323 of microsoft/onnxruntime). Without that type it falls back to the bits.
Reflect.deleteProperty(globalThis, 'Float16Array');

let table: Float32Array | undefined;

/** Returns the numbers that the bits stand for. */
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

/** Returns the bits of the 16-bit float nearest to `value`: ties to even, infinity if it is too large. */
export function encodeHalf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(value)) return sign | 0x7e00;
  if (size >= 65_520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(size)));
  const unit = 2 ** (exponent - 10);
  const units = roundToEven(size / unit);
  // A carry out of the fraction raises the exponent.
  return sign | (units < 1_024 ? units : ((exponent + 15) << 10) + units - 1_024);
}

function roundToEven(value: number): number {
  const down = Math.floor(value);
  const over = value - down;
  return over > 0.5 || (over === 0.5 && down % 2 === 1) ? down + 1 : down;
}
