import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { contractsOf } from '../contract.js';
import { fileFormats, fileTypes } from '../files.js';
import { NumberPage, pageOfList } from '../paging.js';
import { AnyJson, id, intLike, namedObject, textLike } from '../schemas.js';

const api = contractsOf('Jobs');
const path = '/v1/jobs/{job_id}';

const Score = z.union([z.literal(0), z.literal(1)]).meta({ description: '1: right, 0: wrong.', example: 1 });
const RecordId = textLike('france');
const Group = textLike('europe').nullable();

const Tokens = z.object({ prompt: intLike(27), completion: intLike(7) });

const ResultAnswer = namedObject('EvaluationResult', {
  record_id: RecordId,
  group: Group,
  input: AnyJson.meta({ example: 'What is the capital of France?' }),
  expected: AnyJson.meta({ example: 'Paris' }),
  output: textLike('The capital of France is Paris.', 'Null if the model did not answer.').nullable(),
  score: Score,
  latency: z.number().meta({ description: 'Seconds from the moment at which the model began.', example: 0.21 }),
  tokens: Tokens.nullable().describe('Null if the runtime does not report them.'),
  error: z.string().nullable().meta({ description: 'Why the model did not answer, else null.', example: null }),
  model_id: id('mdl')
    .nullable()
    .describe('The model that has answered. Null if none has, and in results of earlier versions.'),
});

export const listResults = api.get(`${path}/results`, {
  id: 'listEvaluationResults',
  summary: 'Read the results of an evaluation',
  description:
    'Answers a row for each scored record, in the order of the dataset, also while the evaluation runs. A page has fewer ' +
    'rows than `limit` if their texts are long. Only the team of the job can read them. They are deleted with the project.',
  access: permissions.readJobs,
  query: NumberPage,
  answer: pageOfList('results', ResultAnswer, 'EvaluationResults'),
  refusals: ['busy'],
});

export const exportResults = api.get(`${path}/results/export`, {
  id: 'exportEvaluationResults',
  summary: 'Export the results of an evaluation',
  description:
    'All rows that the list of results has at this moment, as a file. JSON Lines has the objects of the list. A cell of CSV ' +
    'that a spreadsheet would run as a formula begins with an apostrophe.',
  access: permissions.readJobs,
  query: z.object({
    format: z.enum(fileFormats, { error: `must be one of ${fileFormats.join(', ')}` }).default('jsonl'),
  }),
  answer: z.string().meta({ example: '{"record_id":"france","group":"europe","input":"France?","score":1}\n' }),
  answerFiles: Object.values(fileTypes),
  refusals: ['busy'],
});

const ShareAnswer = namedObject('Share', {
  count: intLike(36),
  right: intLike(35),
  accuracy: z.number().meta({ example: 0.972 }),
  interval: z
    .array(z.number())
    .length(2)
    .meta({ description: 'The 95 % confidence interval, by Wilson.', example: [0.858, 0.995] }),
});

const change = {
  before: ShareAnswer,
  after: ShareAnswer,
  turned_right: intLike(2, 'The number of records that were wrong and are right now.'),
  turned_wrong: intLike(1),
};

const Turned = z
  .array(z.object({ record_id: RecordId, group: Group }))
  .meta({ description: 'The records.', example: [{ record_id: 'france', group: 'europe' }] });

const beforeAndAfter = <Value extends z.ZodType>(value: Value) => z.object({ before: value, after: value });

export const compareResults = api.get(`${path}/compare`, {
  id: 'compareEvaluations',
  summary: 'Compare an evaluation with an earlier one of the same records by the same metric',
  description: 'Compares the records that both have scored, overall and by group.',
  access: permissions.readJobs,
  query: z.object({
    with: z
      .string({ error: 'is required' })
      .regex(/^job_[0-9a-f-]{36}$/, { error: 'must be the id of a job' })
      .meta({ description: 'The earlier evaluation.', example: 'job_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11' }),
  }),
  answer: namedObject('EvaluationComparison', {
    job_id: id('job'),
    with: id('job'),
    ...change,
    groups: z.array(z.object({ group: Group, ...change })),
    right: Turned,
    wrong: Turned,
    changed: Turned.describe('The records with the same score and another output.'),
    latency: beforeAndAfter(z.number().meta({ example: 0.21 }))
      .nullable()
      .describe('The median seconds of the records that both have answered. Null if there are none.'),
    tokens: beforeAndAfter(Tokens)
      .nullable()
      .describe('The sums of the records for which both runtimes report tokens. Null if there are none.'),
  }),
});
