import { type Finding, InvalidRequest } from '../shared/errors.js';
import { quoted } from '../shared/text.js';
import { DatasetFrozen, DatasetInvalid } from './errors.js';
import { canonical, type Json, type JsonObject } from './json.js';
import { nameFindings, nameWithEnding, requireVersion } from './project.js';

export interface DatasetRecord {
  /** Unique in a dataset that validates. */
  readonly id: string;
  readonly group: string | null;
  readonly input: Json;
  readonly expected: Json;
  /** The fields beyond the four above, by name. */
  readonly fields: JsonObject;
}

/** Yields the canonical JSON of records, one record at a time. `content_sha256` is the hash of this JSON. */
export function* canonicalRecords(records: readonly DatasetRecord[]): Generator<string> {
  let before = '[';
  for (const { id, group, input, expected, fields } of records) {
    yield before + canonical({ id, group, input, expected, fields });
    before = ',';
  }
  yield records.length > 0 ? ']' : '[]';
}

/** The summary of a dataset's records. The records themselves are stored separately. */
export interface DatasetContent {
  readonly recordCount: number;
  /** SHA-256 of the canonical records, in lower-case hexadecimal digits. */
  readonly contentSha256: string;
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

export interface ValidationFinding extends Finding {
  readonly code: 'no_records' | 'duplicate_id' | 'empty_input' | 'empty_expected' | 'more_findings';
}

/** Tells whether a dataset can be frozen, and if not, why. */
export interface Validation {
  readonly valid: boolean;
  /** The number of all findings. `findings` may list fewer. */
  readonly count: number;
  readonly findings: readonly ValidationFinding[];
}

const LISTED = 100;

/** Returns the first 100 findings. If there are more, adds a finding from `more` with the number of the others. */
export function shortened<F>(findings: readonly F[], more: (count: number) => F, count = findings.length): F[] {
  const left = count - LISTED;
  return left > 0 ? [...findings.slice(0, LISTED), more(left)] : [...findings];
}

export function validate(records: readonly DatasetRecord[]): Validation {
  const findings = findingsOf(records);
  const more = (count: number): ValidationFinding => ({
    code: 'more_findings',
    path: 'records',
    message: `and ${count} more findings`,
  });
  return { valid: findings.length === 0, count: findings.length, findings: shortened(findings, more) };
}

/** Returns all findings, in the order of the records. */
export function findingsOf(records: readonly DatasetRecord[]): ValidationFinding[] {
  const firstRows = new Map<string, number>();
  const findings = records.flatMap((record, index) => {
    const found: ValidationFinding[] = [];
    const add = (code: ValidationFinding['code'], field: string, problem: string) =>
      found.push({
        code,
        path: `records.${index}.${field}`,
        message: `row ${index + 1} (id "${quoted(record.id)}") ${problem}`,
      });
    const first = firstRows.get(record.id);
    if (first !== undefined) add('duplicate_id', 'id', `has the id of row ${first}: ids must be unique`);
    else firstRows.set(record.id, index + 1);
    if (isEmpty(record.input)) add('empty_input', 'input', 'has no input');
    if (isEmpty(record.expected)) add('empty_expected', 'expected', 'has no expected value');
    return found;
  });
  if (records.length === 0)
    findings.push({ code: 'no_records', path: 'records', message: 'there must be at least one record' });
  return findings;
}

/** Tells whether a value is null, blank text, an empty list or an empty object. */
function isEmpty(value: Json): boolean {
  if (typeof value === 'string') return value.trim() === '';
  if (Array.isArray(value)) return value.length === 0;
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
