import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { listOf, SearchText } from '../paging.js';
import { id, namedObject, textLike, wholeNumberText } from '../schemas.js';

const api = contractsOf('Project workspace');

const MOST_FOUND = 100;

const FoundObject = namedObject('FoundObject', {
  kind: z.enum(['project', 'dataset', 'model']),
  id: textLike('prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11'),
  name: textLike(
    'Capitals',
    'Of a model: the `name`, the `model` or the `path` of its spec. Null if it has none of them.',
  ).nullable(),
  project_id: id('prj').describe('The project with the object. Of a project: its own id.'),
  project_name: textLike('Capitals'),
});

export const search = api.get('/v1/search', {
  id: 'search',
  summary: 'Find projects, datasets and models of the team by name',
  description:
    'Answers projects, then datasets, then models, each newest first. Looks at the newest 1,000 projects of the team, and ' +
    'in each at its newest 100 datasets and 100 models.',
  access: permissions.readWorkspace,
  query: z.object({
    q: SearchText.describe('A part of the name, in upper or lower case.').meta({ example: 'cap' }),
    limit: wholeNumberText(1, MOST_FOUND)
      .default(10)
      .meta({ description: `The largest number of objects of each kind, 1 to ${MOST_FOUND}.`, default: 10 }),
  }),
  answer: listOf('found', FoundObject, 'FoundObjects'),
});
