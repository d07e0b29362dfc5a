import type { Finding } from '../../domain/shared/errors.js';
import { jsonNesting } from '../../domain/shared/json-nesting.js';
import { quoted } from '../../domain/workspace/findings.js';
import { unstorableLeaf } from '../../domain/workspace/json.js';
import { breath } from './breath.js';

const DEPTH = 32;

/** Says so where JSON text is nested deeper than the limit; told from the text, before anything is built from it. */
export function nestedTooDeep(text: string): string | null {
  const { depth } = jsonNesting(text, DEPTH);
  return depth > DEPTH ? `must not be nested deeper than ${DEPTH} levels` : null;
}

/** As many values as are looked at in a few milliseconds. */
const BATCH = 20_000;

/** The first string or number in a JSON value that cannot be stored, but for what its member `except` holds. */
export async function firstUnstorable(value: unknown, except?: string): Promise<Finding | null> {
  let looked = 0;
  for (const found of unstorable(value, '', except)) {
    if (typeof found === 'object') return found;
    looked += found;
    if (looked < BATCH) continue;
    looked = 0;
    await breath();
  }
  return null;
}

/** What is wrong with each value, and now and then how many have been looked at since the last time. */
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
