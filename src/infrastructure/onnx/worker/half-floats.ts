let table: Float32Array | undefined;

/** Half-precision numbers, given as their bits. */
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
