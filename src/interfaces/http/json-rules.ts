import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Finding } from '../../domain/shared/errors.js';
import { jsonNesting } from '../../domain/shared/json-nesting.js';
import { quoted } from '../../domain/shared/text.js';
import { unstorableLeaf } from '../../domain/workspace/json.js';

export const MAX_DEPTH = 32;
export const MAX_VALUES = 200_000;

/** Checks the size of JSON text before anything is built from it. Returns the problem, if any, and the number of values. */
export function checkJsonText(text: string): { readonly problem: string | null; readonly values: number } {
  const { depth, values } = jsonNesting(text, MAX_DEPTH);
  if (depth > MAX_DEPTH) return { problem: `must not be nested deeper than ${MAX_DEPTH} levels`, values };
  return { problem: values > MAX_VALUES ? TOO_MANY_VALUES : null, values };
}

export const TOO_MANY_VALUES = `must not have more than ${MAX_VALUES} values`;

/** The number of values that are checked in a few milliseconds. */
const BATCH = 20_000;

/** Returns the first string or number in a JSON value that cannot be stored. It skips the member `except`. */
export async function firstUnstorable(value: unknown, except?: string): Promise<Finding | null> {
  let looked = 0;
  for (const found of unstorable(value, '', except)) {
    if (typeof found === 'object') return found;
    looked += found;
    if (looked < BATCH) continue;
    looked = 0;
    await yieldToEventLoop();
  }
  return null;
}

/** Yields each problem, and now and then the number of values checked since the last number. */
function* unstorable(value: unknown, path: string, except?: string): Generator<Finding | number> {
  const own = unstorableLeaf(value);
  if (own) yield { path, message: own };
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  let looked = 1;
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const member = (value as Record<string | number, unknown>)[key];
    if (key === except) continue;
    const name = isList ? null : unstorableLeaf(key);
    if (name) yield { path, message: name };
    const found = unstorableLeaf(member);
    if (found) yield { path: below(path, key), message: found };
    if (typeof member === 'object' && member !== null) yield* unstorable(member, below(path, key));
    if (++looked % BATCH === 0) yield BATCH;
  }
  yield looked % BATCH;
}

const below = (path: string, key: string | number) => `${path === '' ? '' : `${path}.`}${quoted(String(key))}`;
