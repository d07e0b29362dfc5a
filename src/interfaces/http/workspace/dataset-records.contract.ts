import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { MOST_RECORDS } from '../../../domain/workspace/dataset-import.js';
import { findingCodes } from '../../../domain/workspace/dataset-validation.js';
import { contractsOf } from '../contract.js';
import { fileFormats, fileTypes } from '../files.js';
import { Count, LongPage, NextCursor, SearchText } from '../paging.js';
import {
  AnyJson,
  AnyObject,
  anyOf,
  Deleted,
  GREATEST_VERSION,
  id,
  intLike,
  textLike,
  Version,
  VersionNumber,
  wholeNumberText,
} from '../schemas.js';
import { FromCalls } from './from-calls.js';
import { RecordOrigin, Records, SentRows } from './records.js';

const api = contractsOf('Project workspace');
const all = '/v1/projects/{project_id}/datasets/{dataset_id}/records';
const one = `${all}/{record}` as const;

const CURSOR = /^([1-9]\d{0,9}):(\d{1,6})$/;

/** A place in a version, so that the pages of a list are of the same version even if the dataset changes meanwhile. */
export interface RecordPlace {
  readonly version: number;
  readonly offset: number;
}

export const cursorOf = ({ version, offset }: RecordPlace): string => `${version}:${offset}`;

const RecordCursor = z
  .string({ error: 'must be given once' })
  .regex(CURSOR, { error: 'must be the next_cursor of an earlier answer' })
  .transform((cursor): RecordPlace => {
    const [, version, offset] = CURSOR.exec(cursor) ?? [];
    return { version: Number(version), offset: Number(offset) };
  })
  .refine(({ version, offset }) => version <= GREATEST_VERSION && offset <= MOST_RECORDS, {
    error: 'must be the next_cursor of an earlier answer',
  })
  .meta({
    type: 'string',
    pattern: CURSOR.source,
    description: 'The `next_cursor` of the page before, or of the dataset.',
    example: '1:500',
  });

export const listRecords = api.get(all, {
  id: 'listDatasetRecords',
  summary: 'List the records of a dataset',
  description:
    'In the order of the dataset. The filters can be combined. The pages of one list are of the same version, even if the ' +
    'dataset changes meanwhile. Long records shorten a page. If the version of the pages was removed, as an update removes ' +
    'the oldest ones, the next page is refused with 409: read the list again.',
  access: permissions.readWorkspace,
  query: z.object({
    limit: LongPage.shape.limit
      .default(500)
      .meta({ description: 'The largest number of items, 1 to 1000.', default: 500 }),
    cursor: RecordCursor.optional(),
    version: wholeNumberText(1, GREATEST_VERSION)
      .optional()
      .describe('A version. Default: that of the cursor, or the current one. It must be that of the cursor.'),
    q: SearchText.optional().describe('Only records with this text in a value, in upper or lower case.'),
    group: z
      .string({ error: 'must be given once' })
      .optional()
      .describe('Only records of this group. Empty: those without a group.'),
    finding: z
      .enum(findingCodes, { error: `must be one of ${findingCodes.join(', ')}` })
      .optional()
      .describe('Only records with this finding of the validation.'),
  }),
  answer: z
    .object({
      dataset_id: id('dst'),
      version: VersionNumber,
      records: Records,
      count: Count,
      next_cursor: NextCursor,
    })
    .meta({ id: 'DatasetRecords' }),
  refusals: ['busy', 'stale_version'],
});

export const appendRecords = api.post(all, {
  id: 'appendDatasetRecords',
  summary: 'Add records to a dataset',
  description:
    'Adds the records at the end, as a new version. A record is left out if the dataset has its content already, under any ' +
    'id. Without `version`, the records are added to whatever version is current. `from_calls` makes the records of calls ' +
    'of the project that are kept with their content.',
  access: permissions.editWorkspace,
  body: z
    .object({ version: Version.optional(), records: SentRows.optional(), from_calls: FromCalls.optional() })
    .refine(({ records, from_calls }) => (records === undefined) !== (from_calls === undefined), {
      path: ['records'],
      error: 'is required, unless there is from_calls: one of the two',
    })
    .meta({
      id: 'DatasetAppendix',
      oneOf: anyOf('records', 'from_calls'),
      example: { records: [{ input: 'What is the capital of Peru?', expected: 'Lima' }] },
    }),
  bodyLimit: 'records',
  exactNumbers: true,
  uncheckedMember: 'records',
  versioned: true,
  status: 201,
  answer: z
    .object({
      dataset_id: id('dst'),
      version: VersionNumber,
      record_count: intLike(24, 'The number of all records.'),
      added: z.array(z.string()).meta({ description: 'The ids of the new records.', example: ['row-24'] }),
      duplicates: intLike(0, 'The number of records that were left out.'),
    })
    .meta({ id: 'DatasetAppended' }),
  refusals: ['quota_exceeded', 'stale_version', 'dataset_frozen'],
});

const anything = AnyJson.optional();

const recordName =
  'The path names the record by its id, percent-encoded. Of several records with the id, it is the first.';

export const updateRecord = api.patch(one, {
  id: 'updateDatasetRecord',
  summary: 'Change a record',
  description: `Replaces the parts that the body has, and makes a new version. ${recordName}`,
  access: permissions.editWorkspace,
  body: z
    .object({
      version: Version.optional(),
      id: anything,
      group: anything,
      input: anything,
      expected: anything,
      fields: anything,
    })
    .meta({
      id: 'DatasetRecordUpdate',
      required: ['version'],
      anyOf: anyOf('id', 'group', 'input', 'expected', 'fields'),
      example: { version: 1, expected: 'Paris' },
    }),
  bodyLimit: 'records',
  exactNumbers: true,
  versioned: true,
  answer: z
    .object({
      id: textLike('fr'),
      group: z.string().nullable().meta({ example: 'europe' }),
      input: AnyJson,
      expected: AnyJson,
      fields: AnyObject,
      origin: RecordOrigin.optional(),
      dataset_id: id('dst'),
      version: VersionNumber,
    })
    .meta({
      id: 'ChangedDatasetRecord',
      example: {
        ...{ id: 'fr', group: 'europe', input: 'What is the capital of France?', expected: 'Paris', fields: {} },
        ...{ dataset_id: 'dst_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', version: 2 },
      },
    }),
  refusals: ['quota_exceeded', 'stale_version', 'dataset_frozen'],
});

export const deleteRecord = api.delete(one, {
  id: 'deleteDatasetRecord',
  summary: 'Remove a record',
  description: `Makes a new version without the record. The version that you last read is in the body or in \`If-Match\`. ${recordName}`,
  access: permissions.editWorkspace,
  body: z.object({ version: Version.optional() }).meta({ id: 'DatasetRecordRemoval', example: { version: 1 } }),
  bodyOptional: true,
  versioned: true,
  answer: Deleted.extend({ id: textLike('fr'), version: VersionNumber }).meta({ id: 'DeletedDatasetRecord' }),
  refusals: ['stale_version', 'dataset_frozen'],
});

export const exportRecords = api.get('/v1/projects/{project_id}/datasets/{dataset_id}/export', {
  id: 'exportDataset',
  summary: 'Export a dataset',
  description:
    'All records of a version as a file. JSON Lines can be imported again without a loss. CSV has a column for each field, ' +
    'and at most 1,000 fields. A text that a spreadsheet could run as a formula gets an apostrophe before each place where a ' +
    'formula could begin.',
  access: permissions.readWorkspace,
  query: z.object({
    format: z.enum(fileFormats, { error: `must be one of ${fileFormats.join(', ')}` }).default('jsonl'),
    version: wholeNumberText(1, GREATEST_VERSION).optional().describe('A version. Default: the current one.'),
  }),
  answer: z
    .string()
    .meta({ example: '{"id":"fr","group":"europe","input":"France?","expected":"Paris","fields":{}}\n' }),
  answerFiles: Object.values(fileTypes),
  refusals: ['busy'],
});
