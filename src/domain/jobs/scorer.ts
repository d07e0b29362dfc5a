import { canonical, isSame, type Json, type JsonObject } from '../workspace/json.js';

/** Tells how an answer is compared with the expected one. */
export const metrics = ['exact', 'normalized', 'contains', 'numeric', 'json_schema'] as const;
export type Metric = (typeof metrics)[number];

export interface Scorer {
  readonly metric: Metric;
  /** The allowed difference to the expected number, for `numeric`. */
  readonly tolerance: number;
  /** The path of the field of a JSON answer that is compared, its names joined by dots. Absent: the whole text. */
  readonly field?: string;
}

/** 1: right. 0: wrong. */
export type Score = 0 | 1;

/**
 * - `exact`: the same text, or JSON of the same value if the expected value is no text.
 * - `normalized`: the same but for letter case, white space and punctuation.
 * - `contains`: the answer contains the expected text as whole words, both normalized.
 * - `numeric`: the last number of the answer differs from the expected one by at most the tolerance.
 * - `json_schema`: the answer validates against the schema of the request, as `validates` tells.
 *
 * An answer without the field that is compared is wrong.
 */
export function scoreOf(scorer: Scorer, answer: string, expected: Json, validates = false): Score {
  const { metric, tolerance, field } = scorer;
  if (metric === 'json_schema') return validates ? 1 : 0;
  const output = field === undefined ? answer : fieldText(answer, field);
  return output !== null && right(output) ? 1 : 0;

  function right(output: string): boolean {
    if (metric === 'numeric') return isNear(output, expected, tolerance);
    if (typeof expected === 'object' && metric !== 'contains') return isSame(parsed(output) ?? null, expected);
    const text = typeof expected === 'string' ? expected : canonical(expected);
    if (metric === 'exact') return output === text;
    const [given, wanted] = [normalized(output), normalized(text)];
    // The expected text is punctuation only.
    if (wanted === '') return metric === 'contains' ? output.includes(text.trim()) : output.trim() === text.trim();
    return metric === 'normalized' ? given === wanted : wordsIn(given, wanted);
  }
}

/** Returns the text of a field, or the JSON of its value. Returns null if the answer is no JSON or lacks the field. */
function fieldText(answer: string, field: string): string | null {
  let value = parsed(answer);
  for (const name of field.split('.')) {
    const isThere = typeof value === 'object' && value !== null && Object.propertyIsEnumerable.call(value, name);
    if (!isThere) return null;
    value = (value as JsonObject)[name];
  }
  return typeof value === 'string' ? value : canonical(value as Json);
}

const normalized = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/\p{P}/gu, '').replace(/\s+/g, ' ').trim();

/** Ignores word boundaries in scripts without spaces. */
const WORD = /[\p{L}\p{N}]/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const isInWord = (character: string | undefined): boolean =>
  character !== undefined && WORD.test(character) && !UNSPACED.test(character);

function wordsIn(answer: string, wanted: string): boolean {
  const first = isInWord([...wanted][0]);
  const last = isInWord([...wanted].at(-1));
  for (let at = answer.indexOf(wanted); at >= 0; at = answer.indexOf(wanted, at + 1)) {
    const before = [...answer.slice(Math.max(0, at - 2), at)].at(-1);
    const after = [...answer.slice(at + wanted.length, at + wanted.length + 2)][0];
    if (!(first && isInWord(before)) && !(last && isInWord(after))) return true;
  }
  return false;
}

/** Allows groups of thousands, and a sign if nothing precedes it. */
const NUMBER =
  /(?<![\p{L}\p{N}.,])[-+\u2212]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|\d+(?:\.\d+)?/giu;

function isNear(output: string, expected: Json, tolerance: number): boolean {
  const wanted = typeof expected === 'number' ? expected : lastNumber(String(expected));
  const answer = lastNumber(output);
  if (wanted === null || answer === null) return false;
  // Allows for the rounding of binary fractions.
  const rounding = Number.EPSILON * 8 * Math.max(Math.abs(wanted), Math.abs(answer));
  return Math.abs(answer - wanted) <= tolerance + rounding;
}

function lastNumber(text: string): number | null {
  const found = text.match(NUMBER)?.at(-1);
  if (found === undefined) return null;
  const number = Number(found.replaceAll(',', '').replace('\u2212', '-'));
  return Number.isFinite(number) ? number : null;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
