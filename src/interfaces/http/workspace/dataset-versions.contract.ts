import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { VersionPage } from '../paging.js';
import {
  AccountId,
  GREATEST_VERSION,
  id,
  namedObject,
  pageOfList,
  Timestamp,
  VersionNumber,
  wholeNumberText,
} from '../schemas.js';
import { Content, RecordAnswer, Records } from './datasets.contract.js';

const api = contractsOf('Project workspace');

const DatasetVersionEntry = Content.omit({ validation: true }).extend({
  version: VersionNumber,
  name: z.string().meta({ example: 'Capitals' }),
  created_at: Timestamp,
  created_by: AccountId,
});

export const listDatasetVersions = api.get('/v1/projects/{project_id}/datasets/{dataset_id}/versions', {
  id: 'listDatasetVersions',
  summary: 'List the versions of a dataset',
  description: 'Newest first, without records.',
  access: permissions.readWorkspace,
  query: VersionPage,
  answer: pageOfList('versions', DatasetVersionEntry, 'DatasetVersions'),
});

export const readDatasetVersion = api.get('/v1/projects/{project_id}/datasets/{dataset_id}/versions/{version}', {
  id: 'readDatasetVersion',
  summary: 'Read a version of a dataset',
  access: permissions.readWorkspace,
  answer: DatasetVersionEntry.extend({
    id: id('dst'),
    project_id: id('prj'),
    records: Records,
    validation: Content.shape.validation,
  }).meta({ id: 'DatasetVersion' }),
});

const OTHER = /^(?:(dst_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:@([1-9]\d{0,9}))?|([1-9]\d{0,9}))$/;

/** Accepts another dataset, a version of it, or another version of the same one. */
const Other = z
  .string({ error: 'is required' })
  .regex(OTHER, { error: 'must be a version, the id of a dataset, or <id>@<version>' })
  .transform((other) => {
    const [, id, itsVersion, version] = OTHER.exec(other) ?? [];
    return { id, version: itsVersion ?? version };
  });

const Side = z.object({ dataset_id: id('dst'), version: VersionNumber });

export const compareDatasets = api.get('/v1/projects/{project_id}/datasets/{dataset_id}/compare', {
  id: 'compareDatasets',
  summary: 'Compare a dataset with another one or with another version',
  description:
    'Compares this dataset with an earlier state or another dataset of the project, record by record, matched by id. ' +
    'Without a version the current one is taken.',
  access: permissions.readWorkspace,
  query: z.object({
    with: Other.meta({
      type: 'string',
      pattern: OTHER.source,
      description: 'A version of this dataset, the id of another dataset, or `<id>@<version>`.',
      example: '1',
    }),
    version: wholeNumberText(1, GREATEST_VERSION).optional().meta({ description: 'A version of this dataset.' }),
  }),
  answer: namedObject('DatasetComparison', {
    dataset: Side,
    with: Side,
    added: Records,
    removed: Records,
    changed: z.array(
      z.object({
        id: z.string().meta({ description: 'The id of the record.', example: 'fr' }),
        fields: z.array(z.string().meta({ example: 'expected' })),
        before: RecordAnswer,
        after: RecordAnswer,
      }),
    ),
    unchanged: z.int().meta({ description: 'The number of unchanged records.', example: 22 }),
  }),
});
