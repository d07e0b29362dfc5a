import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { recordLimits } from '../../../domain/workspace/dataset-import.js';
import type { DatasetRecord } from '../../../domain/workspace/dataset-record.js';
import type { Json } from '../../../domain/workspace/json.js';
import { NAME_LENGTH } from '../../../domain/workspace/name.js';
import { contract } from '../contract.js';
import { LongPage } from '../paging.js';
import {
  AccountId,
  anyOf,
  Deleted,
  id,
  jsonReference,
  nameText,
  pageOfList,
  STORABLE,
  Timestamp,
  Version,
  VersionNumber,
  visible,
  wanted,
} from '../schemas.js';
import { Rows, recordForms } from './record-forms.js';
import { sameStarter, starterChoice } from './starters.contract.js';

const tag = 'Project workspace';

const fieldNames = { propertyNames: { maxLength: recordLimits.fieldName, pattern: STORABLE } };

/** Read by the domain, which says of every row what is wrong with it; not walked through here. */
const SentRecords = z
  .custom<readonly Json[] | Rows>((value) => Array.isArray(value) || value instanceof Rows, {
    error: wanted('a list of records'),
  })
  .meta({
    type: 'array',
    maxItems: recordLimits.records,
    items: {
      type: 'object',
      properties: {
        id: { type: ['string', 'null'], maxLength: recordLimits.id, pattern: STORABLE },
        group: { type: ['string', 'null'], maxLength: recordLimits.group, pattern: STORABLE },
        input: jsonReference,
        expected: jsonReference,
        fields: { type: ['object', 'null'], ...fieldNames, additionalProperties: jsonReference },
      },
      maxProperties: recordLimits.fields,
      ...fieldNames,
      additionalProperties: jsonReference,
    },
    description:
      'At most 500, each with at most 50 fields: `id` and `group` (strings of at most 200 characters, may be left ' +
      'out), `input`, `expected` (any JSON), and others of your own, beside them or within `fields`, with names of ' +
      'at most 200 characters. As JSON they have at most 16 MB.',
    example: [{ id: 'fr', group: 'europe', input: 'What is the capital of France?', expected: 'Paris' }],
  });

/** Judged by the domain as well, to tell of it together with the records. */
const SentName = z.custom<Json>(() => true).meta({ ...visible(NAME_LENGTH), example: 'Capitals' });

/** Checked when they came in; not walked through again on their way out. */
export const RecordAnswer = z
  .custom<DatasetRecord>((record) => record !== null)
  .meta({
    id: 'DatasetRecord',
    type: 'object',
    required: ['id', 'group', 'input', 'expected', 'fields'],
    properties: {
      id: { type: 'string' },
      group: { type: ['string', 'null'] },
      input: { description: 'Any JSON' },
      expected: { description: 'Any JSON' },
      fields: { type: 'object', additionalProperties: true, description: 'All that the record has beside these four' },
    },
    example: {
      id: 'fr',
      group: 'europe',
      input: 'What is the capital of France?',
      expected: 'Paris',
      fields: { source: 'atlas' },
    },
  });
export const Records = z.array(RecordAnswer);

const FindingAnswer = z
  .object({ code: z.string(), path: z.string(), message: z.string() })
  .meta({ example: { code: 'empty_expected', path: 'records.2.expected', message: 'has no expected value' } });

export const Content = z.object({
  record_count: z.int().meta({ example: 1 }),
  content_sha256: z.string().meta({
    description: 'SHA-256 of the records as canonical JSON: the same for the same records, wherever they are',
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  }),
  validation: z
    .object({ valid: z.boolean(), findings: z.array(FindingAnswer) })
    .meta({ description: 'What freezing would refuse', example: { valid: true, findings: [] } }),
});

const DatasetEntry = Content.extend({
  id: id('dst'),
  project_id: id('prj'),
  name: z.string().meta({ example: 'Capitals' }),
  version: VersionNumber,
  state: z.enum(['editable', 'frozen']),
  forked_from: z
    .object({ dataset_id: id('dst'), version: VersionNumber })
    .nullable()
    .meta({ example: null }),
  created_by: AccountId,
  created_at: Timestamp,
  updated_at: Timestamp,
  frozen_at: Timestamp.nullable().meta({ description: 'Null while it is editable', example: null }),
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
  answer: pageOfList('datasets', DatasetEntry, 'Datasets'),
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
  query: z.object({
    name: SentName.optional().meta({ description: 'For CSV and JSON Lines, whose body has no room for it' }),
  }),
  body: Import.meta({ id: 'DatasetImport', oneOf: anyOf('records', 'starter_id', 'starter') }),
  bodyLimit: 'dataset',
  judgedLater: 'records',
  forms: recordForms,
  versioned: true,
  status: 201,
  answer: DatasetAnswer,
});

export const readDataset = contract({
  id: 'readDataset',
  method: 'get',
  path: '/v1/projects/{project_id}/datasets/{dataset_id}',
  tag,
  summary: 'Read a dataset',
  access: permissions.readWorkspace,
  versioned: true,
  answer: DatasetAnswer,
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
  body: z.object({ version: Version, name: SentName.optional(), records: SentRecords.optional() }).meta({
    id: 'DatasetUpdate',
    required: ['version'],
    anyOf: anyOf('name', 'records'),
    example: { version: 1, name: 'Capitals of Europe' },
  }),
  bodyLimit: 'dataset',
  judgedLater: 'records',
  versioned: true,
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
  body: z
    .object({
      name: nameText(NAME_LENGTH, 'Capitals')
        .optional()
        .meta({
          description: `1 to ${NAME_LENGTH} characters. Without one, the copy gets the name of the original and an ending.`,
        }),
    })
    .meta({ id: 'DatasetFork', example: { name: 'Capitals, corrected' } }),
  bodyOptional: true,
  versioned: true,
  status: 201,
  answer: DatasetAnswer,
});
