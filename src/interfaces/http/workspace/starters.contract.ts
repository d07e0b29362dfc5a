import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { AnyJson, AnyObject, listOf, namedObject, text } from '../schemas.js';

const api = contractsOf('Project workspace');

const RecordAnswer = z
  .object({
    id: z.string(),
    group: z.string().nullable(),
    input: AnyJson,
    expected: AnyJson,
    fields: AnyObject,
  })
  .meta({
    example: { id: 'fr', group: 'europe', input: 'What is the capital of France?', expected: 'Paris', fields: {} },
  });

const provenance = {
  source: 'Written for Tenon',
  author: 'The Tenon authors',
  licence: 'CC0-1.0',
  date: '2026-11-21',
  method: 'Written from general knowledge; every answer was checked.',
};

const StarterAnswer = namedObject('ProjectStarter', {
  id: z.string().meta({ example: 'capital-cities' }),
  name: z.string().meta({ example: 'Capital cities' }),
  description: z.string().meta({ example: 'Questions about the capitals of 23 countries.' }),
  provenance: z
    .object({
      source: z.string(),
      author: z.string(),
      licence: z.string(),
      date: z.string().meta({ description: 'The date as YYYY-MM-DD.' }),
      method: z.string().meta({ description: 'How the records were made.' }),
    })
    .meta({ example: provenance }),
  spec: AnyObject.meta({ example: { goal: 'Name the capital of a country', task: 'question answering' } }),
  dataset: z.object({
    name: z.string().meta({ example: 'Capital cities' }),
    record_count: z.int().meta({ example: 1 }),
    groups: z.array(z.string().meta({ example: 'europe' })),
    records: z.array(RecordAnswer),
  }),
});

/** Names a starter in a request. */
export const starterChoice = {
  starter_id: text().optional().meta({ description: 'The id of a starter of `GET /v1/project-starters`.' }),
  starter: text().optional().meta({ description: 'The same as `starter_id`.' }),
};

/** Refuses, by `refine`, a request that names two starters. */
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
