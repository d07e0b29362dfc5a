import { type DatasetRecord, isSame } from './values.js';

/** The unsaved changes of a dataset by record key. null deletes a record. Keys of new records begin with `+`. */
export interface Changes {
  /** The saved version that the changes are based on. */
  readonly version: number;
  readonly records: Readonly<Record<string, DatasetRecord | null>>;
}

export interface Row {
  /** The number of earlier records with the same id, and the id. Finds the record again in later versions. */
  readonly key: string;
  /** The index among the saved records, or null for a new record. */
  readonly index: number | null;
  readonly record: DatasetRecord;
  readonly change: 'changed' | 'added' | 'deleted' | null;
}

export const noChanges = (version: number): Changes => ({ version, records: {} });
export const countOf = ({ records }: Changes): number => Object.keys(records).length;

/** Returns the key of the first record with this id. */
export const keyOf = (id: string, earlier = 0): string => `${earlier} ${id}`;

function keysOf(records: readonly DatasetRecord[]): string[] {
  const seen = new Map<string, number>();
  return records.map(({ id }) => {
    const times = seen.get(id) ?? 0;
    seen.set(id, times + 1);
    return keyOf(id, times);
  });
}

/** Returns the saved records with their changes, then the new records. Deleted records are included. */
export function rowsOf(saved: readonly DatasetRecord[], { records }: Changes): Row[] {
  const keys = keysOf(saved);
  const rows = saved.map((record, index): Row => {
    const key = keys[index] as string;
    const changed = records[key];
    if (changed === undefined) return { key, index, record, change: null };
    return { key, index, record: changed ?? record, change: changed ? 'changed' : 'deleted' };
  });
  const added = Object.entries(records).flatMap(([key, record]): Row[] =>
    key.startsWith('+') && record ? [{ key, index: null, record, change: 'added' }] : [],
  );
  return [...rows, ...added];
}

/** Returns the records to send. */
export const recordsOf = (rows: readonly Row[]): DatasetRecord[] =>
  rows.filter(({ change }) => change !== 'deleted').map(({ record }) => record);

/** Returns the changes with `record` as the record at `key`. null deletes it. undefined removes its changes. */
export function withChange(changes: Changes, key: string, record: DatasetRecord | null | undefined): Changes {
  const { [key]: _, ...others } = changes.records;
  const forgotten = record === undefined || (record === null && key.startsWith('+'));
  return { ...changes, records: forgotten ? others : { ...changes.records, [key]: record } };
}

/** Returns a key for a new record. */
export const newKey = ({ records }: Changes): string => {
  const numbers = Object.keys(records).flatMap((key) => (key.startsWith('+') ? [Number(key.slice(1))] : []));
  return `+${Math.max(0, ...numbers) + 1}`;
};

/**
 * Moves changes to a later version. Keeps every changed text: if a changed record is missing in that version, it
 * becomes a new record. `contested` has the ids of the records that the later version changed differently.
 */
export function rebased(
  changes: Changes,
  before: readonly DatasetRecord[],
  now: { readonly version: number; readonly records: readonly DatasetRecord[] },
): { readonly changes: Changes; readonly contested: readonly string[] } {
  const known = new Map(rowsOf(before, noChanges(0)).map(({ key, record }) => [key, record]));
  const present = new Map(rowsOf(now.records, noChanges(0)).map(({ key, record }) => [key, record]));
  let moved = noChanges(now.version);
  const contested: string[] = [];
  for (const [key, record] of Object.entries(changes.records)) {
    if (key.startsWith('+')) moved = withChange(moved, key, record);
  }
  for (const [key, record] of Object.entries(changes.records)) {
    if (key.startsWith('+')) continue;
    const there = present.get(key);
    if (there && isSame(there, record)) continue;
    if (there) moved = withChange(moved, key, record);
    else if (record) moved = withChange(moved, newKey(moved), record);
    if (!isSame(there, known.get(key))) contested.push((record ?? known.get(key))?.id ?? key);
  }
  return { changes: moved, contested };
}

/**
 * Keeps the changes that were made while a version was being saved, and moves them to that version. `sent` are the rows
 * that were sent. `before` are the records without the changes. `keys` has the new key of each saved row.
 */
export function carriedOver(
  sent: readonly Row[],
  before: readonly DatasetRecord[],
  now: Changes,
  saved: { readonly version: number; readonly records: readonly DatasetRecord[] },
): { readonly changes: Changes; readonly keys: ReadonlyMap<string, string> } {
  const savedKeys = keysOf(saved.records);
  const stayed = sent.filter(({ change }) => change !== 'deleted');
  const keys = new Map(stayed.map(({ key }, at) => [key, savedKeys[at] as string]));
  const known = new Set(sent.map(({ key }) => key));
  let moved = noChanges(saved.version);
  for (const [key, record] of Object.entries(now.records)) if (!known.has(key)) moved = withChange(moved, key, record);
  for (const { key, index, record, change } of sent) {
    const original = index === null ? null : (before[index] ?? null);
    const wanted = key in now.records ? (now.records[key] ?? null) : original;
    if (isSame(wanted, change === 'deleted' ? null : record)) continue;
    moved = withChange(moved, keys.get(key) ?? newKey(moved), wanted);
  }
  return { changes: moved, keys };
}
