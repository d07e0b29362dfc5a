import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { listOf } from '../paging.js';
import {
  AccountId,
  Deleted,
  id,
  idText,
  namedObject,
  Timestamp,
  textLike,
  Version,
  VersionNumber,
} from '../schemas.js';

const api = contractsOf('Project workspace');
const all = '/v1/projects/{project_id}/models/aliases';
const one = `${all}/{alias}` as const;

const ListedAlias = namedObject('ListedModelAlias', {
  alias: textLike('champion'),
  project_id: id('prj'),
  model_id: id('mdl'),
  version: VersionNumber,
  updated_at: Timestamp,
  updated_by: AccountId,
});

const AliasAnswer = ListedAlias.extend({
  history: z
    .array(
      z.object({
        version: VersionNumber,
        model_id: id('mdl').nullable().describe('Null if the alias was deleted.'),
        changed_at: Timestamp,
        changed_by: AccountId,
      }),
    )
    .describe('The last 100 changes, newest first.'),
}).meta({ id: 'ModelAlias' });

export const listModelAliases = api.get(all, {
  id: 'listModelAliases',
  summary: 'List the aliases of a project’s models, last changed first',
  access: permissions.readWorkspace,
  answer: listOf('aliases', ListedAlias, 'ModelAliases'),
});

export const readModelAlias = api.get(one, {
  id: 'readModelAlias',
  summary: 'Read an alias and its history',
  access: permissions.readWorkspace,
  versioned: true,
  answer: AliasAnswer,
});

export const setModelAlias = api.put(one, {
  id: 'setModelAlias',
  summary: 'Point an alias to a registered model',
  description:
    'An alias is a movable name such as `champion` or `candidate`. A project has at most 100. Without a version the last ' +
    'call wins. Pointing an alias to the same model again changes nothing.',
  access: permissions.editWorkspace,
  body: namedObject('ModelAliasTarget', {
    model_id: idText('mdl').describe('A registered model of the project.'),
    version: Version,
  }),
  versioned: true,
  answer: AliasAnswer,
  refusals: ['stale_version'],
});

export const deleteModelAlias = api.delete(one, {
  id: 'deleteModelAlias',
  summary: 'Delete an alias',
  description: 'The history stays, and continues when the alias is set again. `id` in the answer is the alias.',
  access: permissions.editWorkspace,
  answer: Deleted,
  refusals: ['stale_version'],
});
