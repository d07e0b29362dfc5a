import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { listOf } from '../paging.js';
import { AnyObject, intLike, namedObject, text, textLike } from '../schemas.js';
import { Records } from './records.js';

const api = contractsOf('Project workspace');

const provenance = {
  source: 'Written for Tenon',
  author: 'The Tenon authors',
  licence: 'CC0-1.0',
  date: '2026-11-21',
  method: 'Written from general knowledge; every answer was checked.',
};

const StarterAnswer = namedObject('ProjectStarter', {
  id: textLike('capital-cities'),
  name: textLike('Capital cities'),
  description: textLike('Questions about the capitals of 23 countries.'),
  provenance: z
    .object({
      source: z.string(),
      author: z.string(),
      licence: z.string(),
      date: z.string().describe('The date as YYYY-MM-DD.'),
      method: z.string().describe('How the records were made.'),
    })
    .meta({ example: provenance }),
  spec: AnyObject.meta({ example: { goal: 'Name the capital of a country', task: 'question answering' } }),
  dataset: z.object({
    name: textLike('Capital cities'),
    record_count: intLike(1),
    groups: z.array(textLike('europe')),
    records: Records,
  }),
});

/** Lists the fields that name a starter in a request. */
export const starterChoice = {
  starter_id: text().optional().describe('The id of a starter of `GET /v1/project-starters`.'),
  starter: text().optional().describe('Another name for `starter_id`. Send one of them.'),
};

/** Holds arguments for `refine`, which then refuses a request that names two different starters. */
export const sameStarter: [
  (choice: { starter?: string; starter_id?: string }) => boolean,
  { path: string[]; error: string },
] = [
  ({ starter, starter_id = starter }) => starter === undefined || starter === starter_id,
  { path: ['starter'], error: 'must be the same as starter_id' },
];

export const listStarters = api.get('/v1/project-starters', {
  id: 'listProjectStarters',
  summary: 'List the starters for projects',
  description: 'A starter is a spec with a small dataset. Ordered by id.',
  access: permissions.readWorkspace,
  answer: listOf('starters', StarterAnswer, 'ProjectStarters'),
});
