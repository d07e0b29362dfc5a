import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { type MappedColumn, mappedFields } from '../../../domain/workspace/dataset-columns.js';
import type { Json } from '../../../domain/workspace/json.js';
import { NAME_LENGTH } from '../../../domain/workspace/project.js';
import { contractsOf } from '../contract.js';
import { NamedPage, NextCursor, NumberPage, pageOfList } from '../paging.js';
import {
  AccountId,
  anyOf,
  Deleted,
  id,
  intLike,
  nameText,
  Sha256,
  Timestamp,
  textLike,
  Version,
  VersionNumber,
  versionFields,
  visible,
} from '../schemas.js';
import { jsonWithRecords, recordForms } from './record-forms.js';
import { Records, SentRows } from './records.js';
import { sameStarter, starterChoice } from './starters.contract.js';

const api = contractsOf('Project workspace');

/** Accepts any value: the domain checks name and records together, so that one answer lists all findings. */
const SentName = z.custom<Json>(() => true).meta({ ...visible(NAME_LENGTH), example: 'Capitals' });

const FindingAnswer = z
  .object({ code: z.string(), path: z.string(), message: z.string() })
  .meta({ example: { code: 'empty_expected', path: 'records.2.expected', message: 'has no expected value' } });

const Content = z.object({
  record_count: intLike(1),
  content_sha256: Sha256.nullable().describe(
    'The SHA-256 of the records as canonical JSON. In lists, it is null after a change of single records of a dataset with more than 500, until somebody reads the dataset.',
  ),
  validation: z.object({ valid: z.boolean(), count: z.int(), findings: z.array(FindingAnswer) }).meta({
    description: 'The findings that keep the dataset from being frozen: the number of all, and the first 100.',
    example: { valid: true, count: 0, findings: [] },
  }),
});

const DatasetEntry = Content.extend({
  id: id('dst'),
  project_id: id('prj'),
  name: textLike('Capitals'),
  version: VersionNumber,
  state: z.enum(['editable', 'frozen']),
  forked_from: z
    .object({ dataset_id: id('dst'), version: VersionNumber })
    .nullable()
    .meta({ example: null }),
  created_by: AccountId,
  created_at: Timestamp,
  updated_at: Timestamp,
  frozen_at: Timestamp.nullable().meta({ description: 'Null while the dataset is editable.', example: null }),
}).meta({ id: 'DatasetEntry' });

/** The first records of a version, and where the next ones are. */
const firstRecords = {
  content_sha256: Sha256.describe('The SHA-256 of the records as canonical JSON.'),
  records: Records.describe('The first 500 records, or fewer if they have more than 16 MiB as JSON.'),
  next_cursor: NextCursor.describe('The `cursor` of `GET …/records` for the next records. Null if there are no more.'),
};

const DatasetAnswer = DatasetEntry.extend(firstRecords).meta({ id: 'Dataset' });

export const listDatasets = api.get('/v1/projects/{project_id}/datasets', {
  id: 'listDatasets',
  summary: 'List the datasets of a project',
  description: 'Newest first, without records.',
  access: permissions.readWorkspace,
  query: NamedPage,
  answer: pageOfList('datasets', DatasetEntry, 'Datasets'),
});

const Import = z
  .object({ name: SentName.optional(), ...starterChoice, records: SentRows.optional() })
  .refine(...sameStarter)
  .refine(({ starter_id, starter, records }) => ((starter_id ?? starter) === undefined) !== (records === undefined), {
    error: 'must have either starter_id or records',
  });

const FIELD = `(?:${mappedFields.join('|')})`;
const MAP = new RegExp(`^${FIELD}:[^]+$`);

/** Reads pairs such as `input:Question`. A comma separates pairs only before the name of a field and a colon. */
const ColumnMap = z
  .string({ error: 'must be given once' })
  .regex(MAP, { error: `must be pairs such as input:Question,expected:Answer, of ${mappedFields.join(', ')}` })
  .transform((map) =>
    map.split(new RegExp(`,(?=${FIELD}:)`)).map((pair): MappedColumn => {
      const [field = ''] = pair.split(':', 1);
      return { field: field as MappedColumn['field'], column: pair.slice(field.length + 1) };
    }),
  )
  .meta({
    type: 'string',
    pattern: MAP.source,
    description:
      'The columns of a file that become `id`, `group`, `input` or `expected`, for example `input:Question,expected:Answer`. ' +
      'A field that is not named here comes from the column of its own name.',
    example: 'input:Question,expected:Answer',
  });

export const importDataset = api.post('/v1/projects/{project_id}/datasets', {
  id: 'importDataset',
  summary: 'Import a dataset',
  description:
    'Imports a starter, records as JSON, or a file of at most 5 MiB (`SERVICE_DATASET_IMPORT_MB`): CSV with a header line, or JSON Lines. A refusal lists ' +
    'everything that is wrong with the records. Records that do not fit an evaluation are imported, and listed in ' +
    '`validation`. Only freezing refuses them. A record `{"messages": [...]}` of chat messages, as fine-tuning files have ' +
    "them, is read as an input and an expected answer: the last message, if it is the assistant's, is expected, and the " +
    'messages before it are the input, as text if they are one message of a user.',
  access: permissions.editWorkspace,
  query: z.object({
    map: ColumnMap.optional(),
    name: SentName.refine((name) => typeof name === 'string', { error: 'must be given once' })
      .optional()
      .describe('The name, for CSV and JSON Lines.'),
  }),
  body: Import.meta({ id: 'DatasetImport', oneOf: anyOf('records', 'starter_id', 'starter') }),
  bodyLimit: 'dataset',
  exactNumbers: true,
  uncheckedMember: 'records',
  jsonForm: jsonWithRecords,
  forms: recordForms,
  versioned: true,
  status: 201,
  answer: DatasetAnswer,
  refusals: ['quota_exceeded'],
});

export const readDataset = api.get('/v1/projects/{project_id}/datasets/{dataset_id}', {
  id: 'readDataset',
  summary: 'Read a dataset',
  access: permissions.readWorkspace,
  versioned: true,
  answer: DatasetAnswer,
  refusals: ['busy'],
});

export const updateDataset = api.put('/v1/projects/{project_id}/datasets/{dataset_id}', {
  id: 'updateDataset',
  summary: 'Update a dataset',
  description:
    'Changes the name, replaces all records, or both. The body has at most 5 MiB (`SERVICE_DATASET_IMPORT_MB`).',
  access: permissions.editWorkspace,
  body: z.object({ version: Version, name: SentName.optional(), records: SentRows.optional() }).meta({
    id: 'DatasetUpdate',
    required: ['version'],
    anyOf: anyOf('name', 'records'),
    example: { version: 1, name: 'Capitals of Europe' },
  }),
  bodyLimit: 'dataset',
  exactNumbers: true,
  jsonForm: jsonWithRecords,
  uncheckedMember: 'records',
  versioned: true,
  answer: DatasetAnswer,
  refusals: ['quota_exceeded', 'stale_version', 'dataset_frozen'],
});

export const deleteDataset = api.delete('/v1/projects/{project_id}/datasets/{dataset_id}', {
  id: 'deleteDataset',
  summary: 'Delete an editable dataset',
  description: 'Deletes all its versions. A frozen dataset can be deleted only with its project.',
  access: permissions.editWorkspace,
  answer: Deleted,
  refusals: ['stale_version', 'dataset_frozen'],
});

export const freezeDataset = api.post('/v1/projects/{project_id}/datasets/{dataset_id}/freeze', {
  id: 'freezeDataset',
  summary: 'Freeze a dataset',
  description: 'Makes the dataset immutable. A dataset that does not validate cannot be frozen.',
  access: permissions.editWorkspace,
  body: z.object({ version: Version }).meta({ id: 'DatasetFreeze', example: { version: 1 } }),
  bodyOptional: true,
  versioned: true,
  answer: DatasetAnswer,
  refusals: ['busy', 'stale_version', 'dataset_frozen', 'dataset_invalid'],
});

export const forkDataset = api.post('/v1/projects/{project_id}/datasets/{dataset_id}/fork', {
  id: 'forkDataset',
  summary: 'Fork a dataset',
  description: 'Makes an editable copy at version 1. Its `forked_from` names the original.',
  access: permissions.editWorkspace,
  body: z
    .object({
      name: nameText(NAME_LENGTH, 'Capitals')
        .optional()
        .describe(`1 to ${NAME_LENGTH} characters. Without one, the copy gets the name of the original and an ending.`),
    })
    .meta({ id: 'DatasetFork', example: { name: 'Capitals, corrected' } }),
  bodyOptional: true,
  versioned: true,
  status: 201,
  answer: DatasetAnswer,
  refusals: ['quota_exceeded', 'busy'],
});

const DatasetVersionEntry = Content.omit({ validation: true }).extend({ ...versionFields, name: textLike('Capitals') });

export const listDatasetVersions = api.get('/v1/projects/{project_id}/datasets/{dataset_id}/versions', {
  id: 'listDatasetVersions',
  summary: 'List the versions of a dataset',
  description:
    'Newest first, without records. The newest versions are kept, 200 unless `SERVICE_DATASET_VERSIONS` says otherwise. An ' +
    'update removes older ones.',
  access: permissions.readWorkspace,
  query: NumberPage,
  answer: pageOfList('versions', DatasetVersionEntry, 'DatasetVersions'),
});

export const readDatasetVersion = api.get('/v1/projects/{project_id}/datasets/{dataset_id}/versions/{version}', {
  id: 'readDatasetVersion',
  summary: 'Read a version of a dataset',
  access: permissions.readWorkspace,
  answer: DatasetVersionEntry.extend({
    id: id('dst'),
    project_id: id('prj'),
    ...firstRecords,
    validation: Content.shape.validation,
  }).meta({ id: 'DatasetVersion' }),
  refusals: ['busy'],
});
