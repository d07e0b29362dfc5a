import { InvalidRequest } from '../shared/errors.js';
import type { Validation } from './dataset-validation.js';
import { DatasetFrozen, DatasetInvalid } from './errors.js';
import { nameFindings, nameWithEnding } from './name.js';
import { requireVersion } from './project.js';

/** The summary of a dataset's records, which are stored apart from it. */
export interface DatasetContent {
  readonly recordCount: number;
  /** SHA-256 of the canonical records, in lower-case hexadecimal digits. */
  readonly contentSha256: string;
  readonly validation: Validation;
}

export interface Dataset extends DatasetContent {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly version: number;
  readonly state: 'editable' | 'frozen';
  /** The original of a fork, at the version that was copied. */
  readonly forkedFrom: { readonly datasetId: string; readonly version: number } | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The account that made the current version. */
  readonly updatedBy: string;
  readonly frozenAt: Date | null;
}

/** A dataset as it was at one version. Its creator is the account that made this version. */
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
    { recordCount, contentSha256, validation }: DatasetContent,
    forkedFrom: Dataset['forkedFrom'] = null,
  ): Dataset => ({
    ...draft,
    recordCount,
    contentSha256,
    validation,
    forkedFrom,
    name: checked(draft.name),
    version: 1,
    state: 'editable',
    updatedAt: draft.createdAt,
    updatedBy: draft.createdBy,
    frozenAt: null,
  }),

  /** Throws InvalidRequest, DatasetFrozen, or StaleVersion unless every version in `expected` is the dataset's own. */
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

  /** Throws DatasetFrozen, DatasetInvalid, or StaleVersion as `update`. */
  freeze(dataset: Dataset, expected: readonly number[], at: Date): Dataset {
    const { valid, findings } = dataset.validation;
    if (dataset.state !== 'frozen' && !valid) throw new DatasetInvalid(findings);
    requireEditable(dataset, expected);
    return { ...dataset, state: 'frozen', frozenAt: at };
  },

  /** Makes an editable copy of any dataset. Throws InvalidRequest. */
  fork: (dataset: Dataset, draft: Omit<Draft, 'projectId' | 'name'> & { name?: string }): Dataset =>
    Dataset.create(
      { ...draft, projectId: dataset.projectId, name: draft.name ?? nameWithEnding(dataset.name, ' (fork)') },
      dataset,
      { datasetId: dataset.id, version: dataset.version },
    ),

  versionOf: ({ id, version, name, updatedBy, updatedAt, ...dataset }: Dataset): DatasetVersion => ({
    datasetId: id,
    version,
    name,
    recordCount: dataset.recordCount,
    contentSha256: dataset.contentSha256,
    validation: dataset.validation,
    createdBy: updatedBy,
    createdAt: updatedAt,
  }),
};

/** Throws DatasetFrozen, or StaleVersion as `update`. */
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
