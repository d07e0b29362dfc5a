import type { RecordDraft } from '../../src/application/workspace/ports.js';
import type { Dataset } from '../../src/domain/workspace/dataset.js';
import { CanonicalList, canonicalRecord, type DatasetRecord } from '../../src/domain/workspace/dataset-record.js';
import { outlineOf, type Validation, Validator } from '../../src/domain/workspace/dataset-validation.js';
import type { Repositories } from './repositories.js';

/** Returns the canonical JSON of a list of records. */
export function canonicalText(records: readonly DatasetRecord[]): string {
  const list = new CanonicalList();
  const pieces = records.map((record) => list.next(canonicalRecord(record).text));
  return pieces.join('') + list.end;
}

/** Validates a list of records. `most` limits the listed findings. */
export function validate(records: readonly DatasetRecord[], most?: number): Validation {
  const validator = new Validator(most);
  for (const record of records) validator.add(outlineOf(record));
  return validator.result;
}

type Stored = Pick<Repositories, 'datasets' | 'records'>;

/** Returns a draft of these records. It takes equal records of the version `base`. */
export async function draftOf(
  { records }: Pick<Stored, 'records'>,
  datasetId: string,
  rows: readonly DatasetRecord[],
  base?: number,
): Promise<RecordDraft> {
  const draft = await records.draft(datasetId, base);
  await draft.add(rows.map((row) => canonicalRecord(row)));
  return draft;
}

export async function addDataset(store: Stored, dataset: Dataset, rows: readonly DatasetRecord[]): Promise<void> {
  await store.datasets.add(dataset, await draftOf(store, dataset.id, rows));
}

/** Writes a new version. Without rows it has the records of the version before. */
export async function replaceDataset(
  store: Stored,
  current: Dataset,
  next: Dataset,
  rows: readonly DatasetRecord[] | null,
): Promise<boolean> {
  const change = rows && { draft: await draftOf(store, current.id, rows, current.version) };
  return store.datasets.replace(current, next, change);
}

/** Returns all records of a version, or null if the dataset does not have the version. */
export async function recordsOf(
  { records }: Pick<Stored, 'records'>,
  datasetId: string,
  version: number,
): Promise<readonly DatasetRecord[] | null> {
  const entries = await records.entries(datasetId, version, { offset: 0, count: 100_000 });
  return entries && records.read(datasetId, entries);
}
