import type { DatasetVersionEntry } from '../../../application/workspace/ports.js';
import type { Dataset, DatasetVersion } from '../../../domain/workspace/dataset.js';
import { defineTable, type StoredBytes, storedBytes } from '../table.js';

export const DatasetTable = defineTable<Dataset & StoredBytes>('datasets', {
  id: { type: 'text', primary: true },
  projectId: { type: 'text' },
  name: { type: 'text' },
  version: { type: 'integer' },
  state: { type: 'text' },
  recordCount: { type: 'integer' },
  contentSha256: { type: 'text', nullable: true },
  bytes: { type: 'integer' },
  validation: { type: 'json' },
  forkedFrom: { type: 'json', nullable: true },
  createdBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  updatedBy: { type: 'text' },
  updatedAt: { type: 'timestamptz' },
  frozenAt: { type: 'timestamptz', nullable: true },
  storedBytes,
});

/** The driver returns the elements of `bigint[]` as texts. */
type Numbers = readonly (number | string)[];

/** A version with the list of its chunks. Both arrays are null until the content of an earlier release is moved. */
interface VersionRow extends DatasetVersion {
  readonly chunks: Numbers | null;
  /** The number of records in each chunk. */
  readonly sizes: readonly number[] | null;
  /** The version that stored the records in the form of an earlier release, or null. */
  readonly oldContentVersion: number | null;
}

export const DatasetVersionTable = defineTable<VersionRow>('dataset_versions', {
  datasetId: { type: 'text', primary: true },
  version: { type: 'integer', primary: true },
  name: { type: 'text' },
  recordCount: { type: 'integer' },
  contentSha256: { type: 'text', nullable: true },
  bytes: { type: 'integer' },
  validation: { type: 'json' },
  chunks: { type: 'bigint', array: true, nullable: true, select: false },
  sizes: { type: 'integer', array: true, nullable: true, select: false },
  oldContentVersion: { type: 'integer', nullable: true, select: false },
  createdBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
});

export const LISTED_VERSION: Readonly<Record<keyof DatasetVersionEntry, true>> = {
  datasetId: true,
  version: true,
  name: true,
  recordCount: true,
  contentSha256: true,
  createdBy: true,
  createdAt: true,
};

/** A record. TypeORM's types cannot follow a recursive type such as JSON. */
interface RecordRow {
  readonly datasetId: string;
  readonly number: number;
  readonly recordId: string;
  readonly group: string | null;
  readonly input: object;
  readonly expected: object;
  readonly fields: object;
  readonly origin: object | null;
  /** The length as canonical JSON, with the comma or bracket after it. */
  readonly bytes: number;
  /** The first half of the SHA-256 of the canonical content, and of the content as it was sent. */
  readonly digest: Buffer;
  readonly textDigest: Buffer;
  /** The sum of the `FINDINGS` about this record alone. */
  readonly findings: number;
  /** True if the texts of the JSON values are canonical, so that nobody needs to parse them for a digest. */
  readonly canonical: boolean;
}

export const FINDINGS = { emptyInput: 1, emptyExpected: 2 } as const;

export const DatasetRecordTable = defineTable<RecordRow>('dataset_records', {
  datasetId: { type: 'text', primary: true },
  number: { type: 'bigint', primary: true },
  recordId: { type: 'text' },
  group: { type: 'text', nullable: true },
  input: { type: 'json' },
  expected: { type: 'json' },
  fields: { type: 'json' },
  origin: { type: 'json', nullable: true },
  bytes: { type: 'integer' },
  digest: { type: 'bytea' },
  textDigest: { type: 'bytea' },
  findings: { type: 'smallint' },
  canonical: { type: 'boolean' },
});

/** A part of the list of records of a version. It never changes. Versions share the chunks that they have in common. */
interface ChunkRow {
  readonly datasetId: string;
  readonly number: number;
  /** The numbers of the records, in their order. */
  readonly records: Numbers;
}

export const DatasetChunkTable = defineTable<ChunkRow>('dataset_chunks', {
  datasetId: { type: 'text', primary: true },
  number: { type: 'bigint', primary: true },
  records: { type: 'bigint', array: true },
});

/** Records and chunks to be removed: those in the lists, and those with numbers from the first to the last. */
interface LeftoverRow {
  readonly id: number;
  readonly datasetId: string;
  readonly firstNumber: number | null;
  readonly lastNumber: number | null;
  readonly records: Numbers | null;
  readonly chunks: Numbers | null;
  /** A draft lies in the future, so that it is removed only if its process died. */
  readonly dueAt: Date;
}

export const DatasetLeftoverTable = defineTable<LeftoverRow>('dataset_leftovers', {
  id: { type: 'bigint', primary: true },
  datasetId: { type: 'text' },
  firstNumber: { type: 'bigint', nullable: true },
  lastNumber: { type: 'bigint', nullable: true },
  records: { type: 'bigint', array: true, nullable: true },
  chunks: { type: 'bigint', array: true, nullable: true },
  dueAt: { type: 'timestamptz' },
});

/** The whole content of a version, as an earlier release stored it. */
interface OldContentRow {
  readonly datasetId: string;
  readonly version: number;
  readonly records: object;
  readonly bytes: number;
}

export const DatasetOldContentTable = defineTable<OldContentRow>('dataset_old_contents', {
  datasetId: { type: 'text', primary: true },
  version: { type: 'integer', primary: true },
  records: { type: 'json' },
  bytes: { type: 'integer', select: false },
});
