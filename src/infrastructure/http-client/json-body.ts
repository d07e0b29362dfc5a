import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { isObject, type Json, type JsonObject } from '../../domain/workspace/json.js';

/** JSON with more characters in its texts is written in steps. Other work can run between the steps. */
const LONG = 1024 * 1024;
/** The characters of a step. */
const STEP = 256 * 1024;

/** A body in pieces, which can be sent more than once. */
export interface JsonBody {
  readonly length: number;
  readonly pieces: readonly Buffer[];
}

/** Returns plain JSON as a text, or as a body in pieces if it is long. */
export async function jsonBody(json: unknown): Promise<string | JsonBody> {
  if (charactersOf(json, LONG) < LONG) return JSON.stringify(json);
  const pieces: Buffer[] = [];
  let [length, text] = [0, ''];
  const add = () => {
    const piece = Buffer.from(text);
    length += piece.length;
    pieces.push(piece);
    text = '';
  };
  for (const part of partsOf(json)) {
    text += part;
    if (text.length < STEP) continue;
    add();
    await yieldToEventLoop();
  }
  add();
  return { length, pieces };
}

/** Counts the characters of all texts. Stops at `most`. */
function charactersOf(json: unknown, most: number): number {
  if (typeof json === 'string') return json.length;
  if (typeof json !== 'object' || json === null) return 0;
  let count = 0;
  for (const value of Object.values(json)) {
    count += charactersOf(value, most - count);
    if (count >= most) return count;
  }
  return count;
}

/** Yields the text of JSON in parts of at most about a step. */
function* partsOf(json: unknown): Generator<string> {
  if (typeof json === 'string' && json.length > STEP) yield* partsOfText(json);
  else if (Array.isArray(json)) {
    yield '[';
    for (const [at, item] of json.entries()) {
      if (at > 0) yield ',';
      yield* partsOf(item ?? null);
    }
    yield ']';
  } else if (isObject(json as Json)) {
    let before = '{';
    for (const [name, value] of Object.entries(json as JsonObject)) {
      if (value === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* partsOf(value);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  } else yield JSON.stringify(json);
}

function* partsOfText(text: string): Generator<string> {
  yield '"';
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = Math.min(text.length, from + STEP);
    if (isHighSurrogate(text.charCodeAt(to - 1))) to++; // the halves of a character stay together
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
  }
  yield '"';
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
