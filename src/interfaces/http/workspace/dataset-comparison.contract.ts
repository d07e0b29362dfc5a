import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { MOST_RECORDS } from '../../../domain/workspace/dataset-import.js';
import { contractsOf } from '../contract.js';
import { LongPage, NextCursor } from '../paging.js';
import { GREATEST_VERSION, id, intLike, namedObject, textLike, VersionNumber, wholeNumberText } from '../schemas.js';
import { RecordAnswer, Records } from './records.js';

const api = contractsOf('Project workspace');

const OTHER = /^(?:(dst_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:@([1-9]\d{0,9}))?|([1-9]\d{0,9}))$/;

/** Accepts the id of another dataset, with or without a version, or another version of this dataset. */
const Other = z
  .string({ error: 'is required' })
  .regex(OTHER, { error: 'must be a version, the id of a dataset, or <id>@<version>' })
  .transform((other) => {
    const [, id, versionAfterId, onlyVersion] = OTHER.exec(other) ?? [];
    return { id, version: versionAfterId ?? onlyVersion };
  });

const CURSOR = /^([1-9]\d{0,9}):([1-9]\d{0,9}):(\d{1,6})$/;

/** The two versions that the pages of a comparison compare, and the number of differences on the pages before. */
export interface ComparisonPlace {
  readonly own: number;
  readonly base: number;
  readonly offset: number;
}

export const comparisonCursor = ({ own, base, offset }: ComparisonPlace): string => `${own}:${base}:${offset}`;

const ComparisonCursor = z
  .string({ error: 'must be given once' })
  .regex(CURSOR, { error: 'must be the next_cursor of an earlier answer' })
  .transform((cursor): ComparisonPlace => {
    const [, own, base, offset] = CURSOR.exec(cursor) ?? [];
    return { own: Number(own), base: Number(base), offset: Number(offset) };
  })
  .refine(
    ({ own, base, offset }) => Math.max(own, base) <= GREATEST_VERSION && offset > 0 && offset <= 2 * MOST_RECORDS,
    { error: 'must be the next_cursor of an earlier answer' },
  )
  .meta({
    type: 'string',
    pattern: CURSOR.source,
    description: 'The `next_cursor` of the page before, of the same comparison.',
    example: '2:1:100',
  });

const Side = z.object({ dataset_id: id('dst'), version: VersionNumber });

export const compareDatasets = api.get('/v1/projects/{project_id}/datasets/{dataset_id}/compare', {
  id: 'compareDatasets',
  summary: 'Compare a dataset with another one or with another version',
  description:
    'Compares this dataset with an earlier version or another dataset of the project, record by record, matched by id. ' +
    'Without a version, the current one is compared. A page has at most `limit` differences in all: first the added ' +
    'records, then the removed and then the changed ones. The pages of one comparison are of the same versions, even if ' +
    'the datasets change meanwhile.',
  access: permissions.readWorkspace,
  query: z.object({
    with: Other.meta({
      type: 'string',
      pattern: OTHER.source,
      description: 'A version of this dataset, the id of another dataset, or `<id>@<version>`.',
      example: '1',
    }),
    version: wholeNumberText(1, GREATEST_VERSION).optional().describe('A version of this dataset.'),
    limit: LongPage.shape.limit,
    cursor: ComparisonCursor.optional(),
  }),
  answer: namedObject('DatasetComparison', {
    dataset: Side,
    with: Side,
    counts: z
      .object({ added: z.int(), removed: z.int(), changed: z.int() })
      .meta({ description: 'The numbers of all differences.', example: { added: 1, removed: 0, changed: 2 } }),
    added: Records,
    removed: Records,
    changed: z.array(
      z.object({
        id: textLike('fr', 'The id of the record.'),
        fields: z.array(textLike('expected')),
        before: RecordAnswer,
        after: RecordAnswer,
      }),
    ),
    unchanged: intLike(22, 'The number of unchanged records.'),
    next_cursor: NextCursor,
  }),
  refusals: ['busy', 'stale_version'],
});
