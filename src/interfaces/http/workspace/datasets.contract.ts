import { z } from 'zod';
import { permissions } from '../../../domain/access/permission.js';
import type { DatasetRecord } from '../../../domain/workspace/dataset-record.js';
import type { Json } from '../../../domain/workspace/json.js';
import { contract } from '../contract.js';
import { LongPage } from '../paging.js';
import { Deleted, Timestamp, text, Version, wanted } from '../schemas.js';
import { Rows, recordForms } from './record-forms.js';
import { sameStarter, starterChoice } from './starters.contract.js';

const tag = 'Project workspace';

/** Read by the domain, which says of every row what is wrong with it; not walked through here. */
const SentRecords = z
  .custom<readonly Json[] | Rows>((value) => Array.isArray(value) || value instanceof Rows, {
    error: wanted('a list of records'),
  })
  .meta({
    type: 'array',
    items: { type: 'object' },
    description:
      'At most 500, each with at most 50 fields: `id` and `group` (strings of at most 200 characters, may be left ' +
      'out), `input`, `expected` (any JSON), and others of your own, beside them or within `fields`, with names of ' +
      'at most 200 characters. As JSON they have at most 16 MB.',
    example: [{ id: 'fr', group: 'europe', input: 'What is the capital of France?', expected: 'Paris' }],
  });

/** Judged by the domain as well, to tell of it together with the records. */
const SentName = z.custom<Json>(() => true).meta({ type: 'string' });

/** Checked when they came in; not walked through again on their way out. */
export const RecordAnswer = z
  .custom<DatasetRecord>(() => true)
  .meta({
    id: 'DatasetRecord',
    type: 'object',
    required: ['id', 'group', 'input', 'expected', 'fields'],
    properties: {
      id: { type: 'string' },
      group: { type: ['string', 'null'] },
      input: { description: 'Any JSON' },
      expected: { description: 'Any JSON' },
      fields: { type: 'object', additionalProperties: true },
    },
  });
export const Records = z.array(RecordAnswer);

const FindingAnswer = z.object({ code: z.string(), path: z.string(), message: z.string() });

export const Content = z.object({
  record_count: z.int(),
  content_sha256: z.string().meta({
    description: 'SHA-256 of the records as canonical JSON: the same for the same records, wherever they are',
  }),
  validation: z.object({ valid: z.boolean(), findings: z.array(FindingAnswer) }),
});

const DatasetEntry = Content.extend({
  id: z.string(),
  project_id: z.string(),
  name: z.string(),
  version: z.int(),
  state: z.enum(['editable', 'frozen']),
  forked_from: z.object({ dataset_id: z.string(), version: z.int() }).nullable(),
  created_by: z.string(),
  created_at: Timestamp,
  updated_at: Timestamp,
  frozen_at: Timestamp.nullable(),
}).meta({ id: 'DatasetEntry' });

const DatasetAnswer = DatasetEntry.extend({ records: Records }).meta({ id: 'Dataset' });

export const listDatasets = contract({
  id: 'listDatasets',
  method: 'get',
  path: '/v1/projects/{project_id}/datasets',
  tag,
  summary: 'List the datasets of a project',
  description: 'Newest first, without their records.',
  access: permissions.readWorkspace,
  query: LongPage,
  status: 200,
  answer: z
    .object({ datasets: z.array(DatasetEntry), count: z.int(), next_cursor: z.string().nullable() })
    .meta({ id: 'Datasets' }),
  refusals: ['invalid_request'],
});

const Import = z
  .object({ name: SentName.optional(), ...starterChoice, records: SentRecords.optional() })
  .refine(...sameStarter)
  .refine(({ starter_id, starter, records }) => ((starter_id ?? starter) === undefined) !== (records === undefined), {
    error: 'must have either starter_id or records',
  });

export const importDataset = contract({
  id: 'importDataset',
  method: 'post',
  path: '/v1/projects/{project_id}/datasets',
  tag,
  summary: 'Import a dataset',
  description:
    'From a starter, from records as JSON, or from a file of at most 5 MB: CSV with a line of column names, or JSON ' +
    'Lines, with the name behind the `?`. All that keeps the records from being taken is told together. Records that ' +
    'are taken but would not do for a measurement are listed in `validation`; only freezing refuses them.',
  access: permissions.editWorkspace,
  query: z.object({ name: SentName.optional() }),
  body: Import.meta({ id: 'DatasetImport' }),
  bodyLimit: 'dataset',
  judgedLater: 'records',
  forms: recordForms,
  versioned: true,
  status: 201,
  answer: DatasetAnswer,
  refusals: [],
});

export const readDataset = contract({
  id: 'readDataset',
  method: 'get',
  path: '/v1/projects/{project_id}/datasets/{dataset_id}',
  tag,
  summary: 'Read a dataset',
  access: permissions.readWorkspace,
  versioned: true,
  status: 200,
  answer: DatasetAnswer,
  refusals: [],
});

export const updateDataset = contract({
  id: 'updateDataset',
  method: 'put',
  path: '/v1/projects/{project_id}/datasets/{dataset_id}',
  tag,
  summary: 'Update a dataset',
  description:
    'Gives it another name, other records in place of all of its own, or both. The whole body has at most 5 MB, so the ' +
    'records a few bytes less than in an import from a file.',
  access: permissions.editWorkspace,
  body: z
    .object({ version: Version, name: SentName.optional(), records: SentRecords.optional() })
    .meta({ id: 'DatasetUpdate' }),
  bodyLimit: 'dataset',
  judgedLater: 'records',
  versioned: true,
  status: 200,
  answer: DatasetAnswer,
  refusals: ['stale_version', 'dataset_frozen'],
});

export const deleteDataset = contract({
  id: 'deleteDataset',
  method: 'delete',
  path: '/v1/projects/{project_id}/datasets/{dataset_id}',
  tag,
  summary: 'Delete an editable dataset',
  description: 'With all its versions. A frozen dataset goes only with its project.',
  access: permissions.editWorkspace,
  status: 200,
  answer: Deleted,
  refusals: ['stale_version', 'dataset_frozen'],
});

export const freezeDataset = contract({
  id: 'freezeDataset',
  method: 'post',
  path: '/v1/projects/{project_id}/datasets/{dataset_id}/freeze',
  tag,
  summary: 'Freeze a dataset',
  description: 'Makes it immutable, at this version. What does not validate cannot be frozen.',
  access: permissions.editWorkspace,
  body: z.object({ version: Version }).meta({ id: 'DatasetFreeze', example: { version: 1 } }),
  bodyOptional: true,
  versioned: true,
  status: 200,
  answer: DatasetAnswer,
  refusals: ['stale_version', 'dataset_frozen', 'dataset_invalid'],
});

export const forkDataset = contract({
  id: 'forkDataset',
  method: 'post',
  path: '/v1/projects/{project_id}/datasets/{dataset_id}/fork',
  tag,
  summary: 'Fork a dataset',
  description: 'Makes an editable copy, at version 1, that says in `forked_from` what it is a copy of.',
  access: permissions.editWorkspace,
  body: z.object({ name: text().optional() }).meta({ id: 'DatasetFork' }),
  bodyOptional: true,
  versioned: true,
  status: 201,
  answer: DatasetAnswer,
  refusals: [],
});
