import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contract } from '../contract.js';
import { VersionPage } from '../paging.js';
import { AccountId, AnyObject, id, pageOfList, Timestamp, VersionNumber } from '../schemas.js';

const tag = 'Project workspace';
const path = '/v1/projects/{project_id}/models/{model_id}/versions';

const Made = z.object({ version: VersionNumber, created_at: Timestamp, created_by: AccountId });

export const listModelVersions = contract({
  id: 'listModelVersions',
  method: 'get',
  path,
  tag,
  summary: 'List the versions of a model, newest first',
  access: permissions.readWorkspace,
  query: VersionPage,
  answer: pageOfList('versions', Made, 'ModelVersions'),
});

export const readModelVersion = contract({
  id: 'readModelVersion',
  method: 'get',
  path: `${path}/{version}`,
  tag,
  summary: 'Read a version of a model',
  access: permissions.readWorkspace,
  answer: Made.extend({
    id: id('mdl').meta({ description: 'The id of the model.' }),
    project_id: id('prj'),
    spec: AnyObject.meta({ example: { runtime: 'onnx', path: 'tiny-chat' } }),
  }).meta({ id: 'ModelVersion' }),
});
