import { z } from 'zod';
import { permissions } from '../../../domain/access/permission.js';
import { contract } from '../contract.js';
import { VersionPage } from '../paging.js';
import { GREATEST_VERSION, Timestamp, wholeNumberText } from '../schemas.js';
import { Content, RecordAnswer, Records } from './datasets.contract.js';

const tag = 'Project workspace';

const VersionEntry = Content.omit({ validation: true }).extend({
  version: z.int(),
  name: z.string(),
  created_at: Timestamp,
  created_by: z.string(),
});

export const listDatasetVersions = contract({
  id: 'listDatasetVersions',
  method: 'get',
  path: '/v1/projects/{project_id}/datasets/{dataset_id}/versions',
  tag,
  summary: 'List the versions of a dataset',
  description: 'Newest first, without their records.',
  access: permissions.readWorkspace,
  query: VersionPage,
  status: 200,
  answer: z
    .object({ versions: z.array(VersionEntry), count: z.int(), next_cursor: z.string().nullable() })
    .meta({ id: 'DatasetVersions' }),
  refusals: ['invalid_request'],
});

export const readDatasetVersion = contract({
  id: 'readDatasetVersion',
  method: 'get',
  path: '/v1/projects/{project_id}/datasets/{dataset_id}/versions/{version}',
  tag,
  summary: 'Read a version of a dataset',
  access: permissions.readWorkspace,
  status: 200,
  answer: VersionEntry.extend({
    id: z.string(),
    project_id: z.string(),
    records: Records,
    validation: Content.shape.validation,
  }).meta({ id: 'DatasetVersion' }),
  refusals: [],
});

const OTHER = /^(?:(dst_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:@([1-9]\d{0,9}))?|([1-9]\d{0,9}))$/;

/** Another dataset, a version of it, or another version of the same one. */
const Other = z
  .string({ error: 'is required' })
  .regex(OTHER, { error: 'must be a version, the id of a dataset, or <id>@<version>' })
  .transform((other) => {
    const [, id, itsVersion, version] = OTHER.exec(other) ?? [];
    return { id, version: itsVersion ?? version };
  });

const Side = z.object({ dataset_id: z.string(), version: z.int() });

export const compareDatasets = contract({
  id: 'compareDatasets',
  method: 'get',
  path: '/v1/projects/{project_id}/datasets/{dataset_id}/compare',
  tag,
  summary: 'Compare a dataset with another one or with another version',
  description:
    'What became of the records of `with` in this dataset, record by record, matched by id. `with` is a version of ' +
    'this dataset, the id of another one in the project, or `<id>@<version>`; `version` is the version of this one. ' +
    'Where no version is said, the current one is meant.',
  access: permissions.readWorkspace,
  query: z.object({
    with: Other.meta({ type: 'string', example: '1' }),
    version: wholeNumberText(1, GREATEST_VERSION).optional(),
  }),
  status: 200,
  answer: z
    .object({
      dataset: Side,
      with: Side,
      added: Records,
      removed: Records,
      changed: z.array(
        z.object({ id: z.string(), fields: z.array(z.string()), before: RecordAnswer, after: RecordAnswer }),
      ),
      unchanged: z.int(),
    })
    .meta({ id: 'DatasetComparison' }),
  refusals: ['invalid_request'],
});
