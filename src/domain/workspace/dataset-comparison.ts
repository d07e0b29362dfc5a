import type { DatasetRecord } from './dataset-record.js';
import { isSame, type Json } from './json.js';

/** Records that are only in one of two lists, or in both with another content. */
export interface Differences<T> {
  readonly added: readonly T[];
  readonly removed: readonly T[];
  readonly changed: readonly { readonly before: T; readonly after: T }[];
  readonly unchanged: number;
}

/**
 * Lists the changes from `before` to `after`. Matches records by id. If an id occurs several times, its first record in
 * `before` matches its first in `after`, and so on. `isSame` tells whether two matching records are the same.
 */
export function differences<T extends { readonly id: string }>(
  before: readonly T[],
  after: readonly T[],
  isSame: (one: T, other: T) => boolean,
): Differences<T> {
  const unmatched = new Map<string, T[]>();
  for (const record of before) {
    const same = unmatched.get(record.id);
    if (same) same.push(record);
    else unmatched.set(record.id, [record]);
  }
  const added: T[] = [];
  const changed: { before: T; after: T }[] = [];
  const matched = new Set<T>();
  for (const record of after) {
    const earlier = unmatched.get(record.id)?.shift();
    if (!earlier) {
      added.push(record);
      continue;
    }
    matched.add(earlier);
    if (!isSame(earlier, record)) changed.push({ before: earlier, after: record });
  }
  const removed = before.filter((record) => !matched.has(record));
  return { added, removed, changed, unchanged: matched.size - changed.length };
}

/** Returns the fields that differ: `group`, `input`, `expected`, or `fields.<name>` for a further field. */
export function differingFields(before: DatasetRecord, after: DatasetRecord): string[] {
  const own = (['group', 'input', 'expected'] as const).filter((name) => !isSame(before[name], after[name]));
  const names = new Set([...Object.keys(before.fields), ...Object.keys(after.fields)]);
  const further = [...names].filter((name) => !isSame(member(before, name), member(after, name)));
  return [...own, ...further.map((name) => `fields.${name}`)];
}

const member = ({ fields }: DatasetRecord, name: string): Json | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;
