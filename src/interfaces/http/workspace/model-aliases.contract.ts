import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contract } from '../contract.js';
import { AccountId, Deleted, id, idText, listOf, Timestamp, Version, VersionNumber } from '../schemas.js';

const tag = 'Project workspace';
const all = '/v1/projects/{project_id}/models/aliases';
const one = `${all}/{alias}` as const;

const ListedAlias = z
  .object({
    alias: z.string().meta({ example: 'champion' }),
    project_id: id('prj'),
    model_id: id('mdl'),
    version: VersionNumber,
    updated_at: Timestamp,
    updated_by: AccountId,
  })
  .meta({ id: 'ListedModelAlias' });

const AliasAnswer = ListedAlias.extend({
  history: z
    .array(
      z.object({
        version: VersionNumber,
        model_id: id('mdl').nullable().meta({ description: 'Null where the alias was taken away' }),
        changed_at: Timestamp,
        changed_by: AccountId,
      }),
    )
    .meta({ description: 'What it has pointed to, newest first: the last 100 changes' }),
}).meta({ id: 'ModelAlias' });

export const listModelAliases = contract({
  id: 'listModelAliases',
  method: 'get',
  path: all,
  tag,
  summary: 'List the aliases of a project’s models, the one moved last first',
  access: permissions.readWorkspace,
  answer: listOf('aliases', ListedAlias, 'ModelAliases'),
});

export const readModelAlias = contract({
  id: 'readModelAlias',
  method: 'get',
  path: one,
  tag,
  summary: 'Read an alias, and what it has pointed to',
  access: permissions.readWorkspace,
  versioned: true,
  answer: AliasAnswer,
});

export const setModelAlias = contract({
  id: 'setModelAlias',
  method: 'put',
  path: one,
  tag,
  summary: 'Point an alias to a registered model',
  description:
    'A name of 1 to 64 letters, digits, `.`, `_` and `-`, such as `champion` or `candidate`; a project has at most 100. ' +
    'Without a version, whoever calls last wins. Pointing it again to the same model changes nothing.',
  access: permissions.editWorkspace,
  body: z
    .object({
      model_id: idText('mdl').meta({ description: 'A registered model of the project.' }),
      version: Version,
    })
    .meta({ id: 'ModelAliasTarget' }),
  versioned: true,
  answer: AliasAnswer,
  refusals: ['stale_version'],
});

export const deleteModelAlias = contract({
  id: 'deleteModelAlias',
  method: 'delete',
  path: one,
  tag,
  summary: 'Take an alias away',
  description: 'Its history stays, and goes on when it is set again. The `id` of the answer is the alias.',
  access: permissions.editWorkspace,
  answer: Deleted,
  refusals: ['stale_version'],
});
