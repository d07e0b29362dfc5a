import { isObject, type Json, type JsonObject } from '../workspace/json.js';

/** The most characters that an open end has. */
const MOST = 256;
/** Answers with these reasons were ended by the model, so they have no open end. */
const WHOLE: readonly Json[] = ['stop', 'tool_calls'];

/** A value in quotes without the closing quote, as in `password: "correct hor`. */
const OPEN_VALUE = /(?:[:=>]|\bis) {0,4}\\?["'][^"'\n]*$/;
/** Account numbers also have groups of capital letters. */
const BEGINS_LIKE_NUMBER = /^[^\p{L}\p{N}]*(?:[\p{Nd}\p{Lu}]|$)/u;
const ENDS_LIKE_NUMBER = /[\p{Nd}\p{Lu}][^\p{L}\p{N}]{0,4}$/u;

/**
 * Returns the beginning of a text that ended too early. Leaves out what may be the beginning of a secret, which no masker
 * can know: the last word, with the groups of digits and capital letters before it, and a value in open quotes, at most
 * 256 characters. A text of JSON that is complete stays.
 */
export function withoutOpenEnd(text: string): string {
  if (isWholeJson(text)) return text;
  const tail = text.slice(-MOST);
  let from = wordBefore(tail, tail.length);
  while (from > 0 && BEGINS_LIKE_NUMBER.test(tail.slice(from)) && ENDS_LIKE_NUMBER.test(tail.slice(0, from)))
    from = wordBefore(tail, tail.slice(0, from).trimEnd().length);
  const quote = OPEN_VALUE.exec(tail)?.index ?? tail.length;
  return text.slice(0, text.length - tail.length + Math.min(from, quote)).toWellFormed();
}

/** Returns the index of the first character of the word that ends at `end`. */
const wordBefore = (text: string, end: number): number => end - (/\S*$/.exec(text.slice(0, end))?.[0].length ?? 0);

/**
 * Leaves out the open ends of each answer that the model did not end itself. `isCut`: any of the texts may have lost its
 * end. Then a text of JSON that is not complete is left out, because its parts can be masked only as a whole.
 */
export function withoutOpenEnds(answer: JsonObject, isCut = false): JsonObject {
  const { others } = answer;
  const isWhole = !isCut && WHOLE.includes(answer.finish_reason ?? null);
  const first = isWhole ? answer : withoutEnds(answer, isCut);
  if (!Array.isArray(others)) return first;
  return { ...first, others: others.map((other: Json) => (isObject(other) ? withoutOpenEnds(other, isCut) : other)) };
}

function withoutEnds(answer: JsonObject, isCut: boolean): JsonObject {
  const { tool_calls: calls } = answer;
  const open = withoutEndOf(['content', 'reasoning'], answer, isCut);
  if (!Array.isArray(calls)) return open;
  const last = calls.length - 1;
  const kept = calls.map((call: Json, at) =>
    (isCut || at === last) && isObject(call) ? withoutEndOf(['arguments'], call, isCut) : call,
  );
  return { ...open, tool_calls: kept };
}

function withoutEndOf(names: readonly string[], from: JsonObject, isCut: boolean): JsonObject {
  const texts = names.flatMap((name) => {
    const text = from[name];
    if (typeof text !== 'string') return [];
    return [[name, isCut && isPartOfJson(text) ? '' : withoutOpenEnd(text)] as const];
  });
  return { ...from, ...Object.fromEntries(texts) };
}

/** Tells whether a text begins as JSON and has lost its end. */
export const isPartOfJson = (text: string): boolean => /^\s*[{["]/.test(text) && !isWholeJson(text);

/** A number alone is no whole JSON, because more digits may follow. */
function isWholeJson(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
