import type { Finding } from '../../domain/shared/errors.js';
import { jsonNesting } from '../../domain/shared/json-nesting.js';
import { breath } from './breath.js';

const DEPTH = 32;

/** Says so where JSON text is nested deeper than the limit; told from the text, before anything is built from it. */
export function nestedTooDeep(text: string): string | null {
  const { depth } = jsonNesting(text, DEPTH);
  return depth > DEPTH ? `must not be nested deeper than ${DEPTH} levels` : null;
}

/** As many values as are looked at in a few milliseconds. */
const BATCH = 20_000;

/** The first string or number in a JSON value that PostgreSQL cannot store, or that no double holds. */
export async function firstUnstorable(value: unknown): Promise<Finding | null> {
  let looked = 0;
  for (const found of unstorable(value, '')) {
    if (typeof found === 'object') return found;
    looked += found;
    if (looked < BATCH) continue;
    looked = 0;
    await breath();
  }
  return null;
}

/** What is wrong with each value, and now and then how many have been looked at since the last time. */
function* unstorable(value: unknown, path: string): Generator<Finding | number> {
  const own = unstorableLeaf(value, path);
  if (own) yield own;
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  let looked = 1;
  for (const key of isList ? value.keys() : Object.keys(value)) {
    const member = (value as Record<string | number, unknown>)[key];
    const found = (isList ? null : unstorableText(String(key), path)) ?? unstorableLeaf(member, below(path, key));
    if (found) yield found;
    if (typeof member === 'object' && member !== null) yield* unstorable(member, below(path, key));
    if (++looked % BATCH === 0) yield BATCH;
  }
  yield looked % BATCH;
}

const below = (path: string, key: string | number) => (path === '' ? String(key) : `${path}.${key}`);

function unstorableLeaf(value: unknown, path: string): Finding | null {
  if (typeof value === 'string') return unstorableText(value, path);
  if (typeof value !== 'number' || Number.isFinite(value)) return null;
  return { path, message: 'must be a number that fits a double' };
}

function unstorableText(text: string, path: string): Finding | null {
  if (text.includes('\0')) return { path, message: 'must not contain the NUL character' };
  return text.isWellFormed() ? null : { path, message: 'must not contain half of a surrogate pair' };
}
