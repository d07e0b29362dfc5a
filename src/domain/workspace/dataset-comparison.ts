import type { DatasetRecord } from './dataset.js';
import { isSame, type Json } from './json.js';

interface ChangedRecord {
  readonly id: string;
  /** The fields that differ: `group`, `input`, `expected`, or `fields.<name>` for a further field. */
  readonly fields: readonly string[];
  readonly before: DatasetRecord;
  readonly after: DatasetRecord;
}

export interface Comparison {
  readonly added: readonly DatasetRecord[];
  readonly removed: readonly DatasetRecord[];
  readonly changed: readonly ChangedRecord[];
  readonly unchanged: number;
}

/**
 * Lists the changes from `before` to `after`. Matches records by id. If an id occurs several times, its first record in
 * `before` matches its first in `after`, and so on.
 */
export function compareRecords(before: readonly DatasetRecord[], after: readonly DatasetRecord[]): Comparison {
  const unmatched = new Map<string, DatasetRecord[]>();
  for (const record of before) unmatched.set(record.id, [...(unmatched.get(record.id) ?? []), record]);
  const added: DatasetRecord[] = [];
  const changed: ChangedRecord[] = [];
  const matched = new Set<DatasetRecord>();
  for (const record of after) {
    const earlier = unmatched.get(record.id)?.shift();
    if (!earlier) {
      added.push(record);
      continue;
    }
    matched.add(earlier);
    const fields = differences(earlier, record);
    if (fields.length > 0) changed.push({ id: record.id, fields, before: earlier, after: record });
  }
  const removed = before.filter((record) => !matched.has(record));
  return { added, removed, changed, unchanged: matched.size - changed.length };
}

function differences(before: DatasetRecord, after: DatasetRecord): string[] {
  const own = (['group', 'input', 'expected'] as const).filter((name) => !isSame(before[name], after[name]));
  const names = new Set([...Object.keys(before.fields), ...Object.keys(after.fields)]);
  const further = [...names].filter((name) => !isSame(member(before, name), member(after, name)));
  return [...own, ...further.map((name) => `fields.${name}`)];
}

const member = ({ fields }: DatasetRecord, name: string): Json | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;
