import type { Decoder, Row, Scores, Step } from './decoder.js';
import type { Padding } from './kv-cache.js';

/** How far scores may be apart, as a share of their range: rounding is far below, a wrong mask far above. */
const TOLERANCE = { float32: 1e-3, float16: 1e-2 };

/**
 * The padding with which the model answers two sequences of different lengths together as it answers them one by one;
 * null where neither does, or where the model fails on two. Exports differ, and don't say so: with the wrong padding an
 * answer looks like one.
 */
export async function paddingOf(decoder: Decoder, tokens: readonly number[]): Promise<Padding | null> {
  if (!decoder.layout.takesMask) return null;
  const rows: Row[] = [];
  const expected: Step[][] = [];
  for (const length of [2, 7]) {
    const some = cyclic(tokens, length + 2);
    const past = await decoder.read({ past: decoder.begin(), tokens: some.slice(0, length) });
    const row = { past, tokens: some.slice(length) };
    rows.push(row);
    expected.push((await twoSteps(decoder, [row])).flat());
  }
  for (const padding of ['left', 'right'] as const) {
    const steps = await twoSteps(decoder.padded(padding), rows).catch(() => null);
    const agrees = steps?.every((step, i) =>
      step.every(({ scores }, row) => alike(decoder, scores, expected[row]?.[i]?.scores ?? [])),
    );
    if (agrees) return padding;
  }
  return null;
}

/**
 * Whether it does not matter in which pieces a prompt is read, so that a beginning that was read for another will do. Where
 * numbers are rounded by what else is in the step, as `int8` exports do, it does.
 */
export async function readsInAnyPieces(decoder: Decoder, tokens: readonly number[]): Promise<boolean> {
  const some = cyclic(tokens, 9);
  const [whole] = await decoder.advance([{ past: decoder.begin(), tokens: some }]);
  const past = await decoder.read({ past: decoder.begin(), tokens: some.slice(0, 4) });
  const [inPieces] = await decoder.advance([{ past, tokens: some.slice(4) }]);
  return alike(decoder, inPieces?.scores ?? [], whole?.scores ?? []);
}

const cyclic = (tokens: readonly number[], length: number): number[] =>
  Array.from({ length }, (_, i) => tokens[i % tokens.length] as number);

/** The second step is fed with what came out of the first. */
async function twoSteps(decoder: Decoder, rows: readonly Row[]): Promise<[Step[], Step[]]> {
  const fed = (at: number, pasts: readonly { past: Row['past'] }[]) =>
    pasts.map(({ past }, row) => ({ past, tokens: [rows[row]?.tokens[at] as number] }));
  const first = await decoder.advance(fed(0, rows));
  return [first, await decoder.advance(fed(1, first))];
}

function alike({ layout: { tensors } }: Decoder, scores: Scores, expected: Scores): boolean {
  const tolerance = TOLERANCE[tensors.some(({ type }) => type === 'float16') ? 'float16' : 'float32'];
  const finite = Array.from(expected).filter(Number.isFinite);
  const range = finite.reduce((max, one) => Math.max(max, one), 0) - finite.reduce((min, one) => Math.min(min, one), 0);
  return Array.from(scores).every((score, token) => {
    const other = expected[token] as number;
    return Object.is(score, other) || Math.abs(score - other) <= tolerance * range;
  });
}
