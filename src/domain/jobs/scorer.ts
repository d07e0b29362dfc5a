import { canonical, isSame, type Json, type JsonObject } from '../workspace/json.js';

/** The ways to compare an answer with the expected value. */
export const metrics = ['exact', 'normalized', 'contains', 'numeric', 'json_schema'] as const;
export type Metric = (typeof metrics)[number];

export interface Scorer {
  readonly metric: Metric;
  /** The allowed difference to the expected number, for `numeric`. */
  readonly tolerance: number;
  /** The field of a JSON answer that is compared: names joined by dots. If absent, the whole answer is compared. */
  readonly field?: string;
}

/** 1: right. 0: wrong. */
export type Score = 0 | 1;

/**
 * Compares an answer with the expected value. The metric decides which answers are right:
 *
 * - `exact`: the answer is the expected text. For an object, a list or null, the answer is JSON of the same value.
 * - `normalized`: as `exact`, but letter case, white space and punctuation of a text do not count.
 * - `contains`: the normalized answer contains the normalized expected text as whole words.
 * - `numeric`: the last number of the answer differs from the expected number by at most the tolerance.
 * - `json_schema`: `validates` is true. The caller has checked the answer against the schema of the request.
 *
 * An answer without the field of the scorer is wrong.
 */
export function scoreOf(scorer: Scorer, answer: string, expected: Json, validates = false): Score {
  const { metric, tolerance, field } = scorer;
  if (metric === 'json_schema') return validates ? 1 : 0;
  const output = field === undefined ? answer : fieldText(answer, field);
  return output !== null && isRight(output) ? 1 : 0;

  function isRight(output: string): boolean {
    if (metric === 'numeric') return isNear(output, expected, tolerance);
    if (typeof expected === 'object' && metric !== 'contains') return isSame(parsed(output) ?? null, expected);
    const text = typeof expected === 'string' ? expected : canonical(expected);
    if (metric === 'exact') return output === text;
    const [actual, wanted] = [normalized(output), normalized(text)];
    // The expected text has only punctuation.
    if (wanted === '') return metric === 'contains' ? output.includes(text.trim()) : output.trim() === text.trim();
    return metric === 'normalized' ? actual === wanted : hasWords(actual, wanted);
  }
}

/** Returns the text of a field, or another value as JSON. Returns null if the answer is not JSON or lacks the field. */
function fieldText(answer: string, field: string): string | null {
  let value = parsed(answer);
  for (const name of field.split('.')) {
    const hasName = typeof value === 'object' && value !== null && Object.propertyIsEnumerable.call(value, name);
    if (!hasName) return null;
    value = (value as JsonObject)[name];
  }
  return typeof value === 'string' ? value : canonical(value as Json);
}

const normalized = (text: string): string =>
  text.normalize('NFKC').toLowerCase().replace(/\p{P}/gu, '').replace(/\s+/g, ' ').trim();

const WORD = /[\p{L}\p{N}]/u;
/** The scripts that write words without spaces between them. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const isInWord = (character: string | undefined): boolean =>
  character !== undefined && WORD.test(character) && !UNSPACED.test(character);

function hasWords(answer: string, wanted: string): boolean {
  const first = isInWord([...wanted][0]);
  const last = isInWord([...wanted].at(-1));
  for (let at = answer.indexOf(wanted); at >= 0; at = answer.indexOf(wanted, at + 1)) {
    const before = [...answer.slice(Math.max(0, at - 2), at)].at(-1);
    const after = [...answer.slice(at + wanted.length, at + wanted.length + 2)][0];
    if (!(first && isInWord(before)) && !(last && isInWord(after))) return true;
  }
  return false;
}

/** Matches a number, also with commas between thousands. A sign counts only if no letter or digit is before it. */
const NUMBER =
  /(?<![\p{L}\p{N}.,])[-+\u2212]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[-+]?\d+)?|\d+(?:\.\d+)?/giu;

function isNear(output: string, expected: Json, tolerance: number): boolean {
  const wanted = typeof expected === 'number' ? expected : lastNumber(String(expected));
  const answer = lastNumber(output);
  if (wanted === null || answer === null) return false;
  // Binary fractions are rounded: 0.1 + 0.2 is not 0.3.
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
