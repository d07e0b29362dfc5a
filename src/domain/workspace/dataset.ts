import { InvalidRequest } from '../shared/errors.js';
import type { Validation } from './dataset-validation.js';
import { DatasetFrozen, DatasetInvalid } from './errors.js';
import { nameFindings, nameWithEnding, requireVersion } from './project.js';

/** The summary of a dataset's records. The records themselves are stored separately. */
export interface DatasetContent {
  readonly recordCount: number;
  /**
   * SHA-256 of the canonical records, in lower-case hexadecimal digits. Null after a change of single records of a large
   * dataset, until somebody needs it.
   */
  readonly contentSha256: string | null;
  /** The length of the canonical records in bytes. */
  readonly bytes: number;
  readonly validation: Validation;
}

export interface Dataset extends DatasetContent {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly version: number;
  readonly state: 'editable' | 'frozen';
  /** The original of a fork and its copied version. */
  readonly forkedFrom: { readonly datasetId: string; readonly version: number } | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The account that made the current version. */
  readonly updatedBy: string;
  readonly frozenAt: Date | null;
}

/** One version of a dataset. `createdBy` is the account that made this version. */
export interface DatasetVersion extends DatasetContent {
  readonly datasetId: string;
  readonly version: number;
  readonly name: string;
  readonly createdBy: string;
  readonly createdAt: Date;
}

type Draft = Pick<Dataset, 'id' | 'projectId' | 'name' | 'createdBy' | 'createdAt'>;

export const Dataset = {
  /** Throws InvalidRequest. */
  create: (
    draft: Draft,
    { recordCount, contentSha256, bytes, validation }: DatasetContent,
    forkedFrom: Dataset['forkedFrom'] = null,
  ): Dataset => ({
    ...draft,
    recordCount,
    contentSha256,
    bytes,
    validation,
    forkedFrom,
    name: checked(draft.name),
    version: 1,
    state: 'editable',
    updatedAt: draft.createdAt,
    updatedBy: draft.createdBy,
    frozenAt: null,
  }),

  /** Throws InvalidRequest or DatasetFrozen. Throws StaleVersion if a version in `expected` is not the dataset's. */
  update(
    dataset: Dataset,
    expected: readonly number[],
    change: { name?: string; content: DatasetContent | null; by: string; at: Date },
  ): Dataset {
    const name = checked(change.name ?? dataset.name);
    requireEditable(dataset, expected);
    return {
      ...dataset,
      ...change.content,
      name,
      version: dataset.version + 1,
      updatedAt: change.at,
      updatedBy: change.by,
    };
  },

  /** Throws DatasetInvalid, and what `requireEditable` throws. */
  freeze(dataset: Dataset, expected: readonly number[], at: Date): Dataset {
    const { valid, findings } = dataset.validation;
    if (dataset.state !== 'frozen' && !valid) throw new DatasetInvalid(findings);
    requireEditable(dataset, expected);
    return { ...dataset, state: 'frozen', frozenAt: at };
  },

  /** Creates an editable copy of an editable or frozen dataset. Throws InvalidRequest. */
  fork: (dataset: Dataset, draft: Omit<Draft, 'projectId' | 'name'> & { name?: string }): Dataset =>
    Dataset.create({ ...draft, projectId: dataset.projectId, name: draft.name ?? forkName(dataset.name) }, dataset, {
      datasetId: dataset.id,
      version: dataset.version,
    }),

  versionOf: ({ id, version, name, updatedBy, updatedAt, ...dataset }: Dataset): DatasetVersion => ({
    datasetId: id,
    version,
    name,
    recordCount: dataset.recordCount,
    contentSha256: dataset.contentSha256,
    bytes: dataset.bytes,
    validation: dataset.validation,
    createdBy: updatedBy,
    createdAt: updatedAt,
  }),
};

/** Returns `Cities (fork)` for `Cities`, and `Cities (fork 2)` for `Cities (fork)`. */
function forkName(name: string): string {
  const [ending = '', number = '1'] = / \(fork(?: (\d{1,9}))?\)$/.exec(name) ?? [];
  const own = name.slice(0, name.length - ending.length);
  return nameWithEnding(own, ending ? ` (fork ${Number(number) + 1})` : ' (fork)');
}

/** Throws DatasetFrozen. Throws StaleVersion if a version in `expected` is not the dataset's. */
export function requireEditable(dataset: Dataset, expected: readonly number[]): void {
  if (dataset.state === 'frozen') throw new DatasetFrozen();
  requireVersion(dataset, expected);
}

function checked(typedName: string): string {
  const name = typedName.trim();
  const findings = nameFindings(name);
  if (findings.length > 0) throw new InvalidRequest(findings);
  return name;
}
