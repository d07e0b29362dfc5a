import { z } from 'zod';
import { MOST_SEARCHED } from '../../../application/shared/bounded-page.js';
import { permissions } from '../../../domain/accounts/permission.js';
import { QUEUED_PER_TEAM } from '../../../domain/jobs/evaluation.js';
import { jobKinds, jobLimits, jobModes, jobStatuses, openStatuses } from '../../../domain/jobs/job.js';
import type { Json } from '../../../domain/workspace/json.js';
import { contractsOf } from '../contract.js';
import { Page, pageOfList, SearchText } from '../paging.js';
import {
  ActorId,
  AnyJson,
  Cost,
  Currency,
  choice,
  id,
  idText,
  intLike,
  jsonComponent,
  namedObject,
  nameText,
  Timestamp,
  text,
  textLike,
  wholeNumber,
} from '../schemas.js';

const api = contractsOf('Jobs');
const path = '/v1/jobs';
const one = `${path}/{job_id}` as const;

/** Accepts any value: the body was parsed as JSON, so no check is necessary. */
const Result = z.unknown().meta({
  ...jsonComponent,
  description: `Any JSON value of at most ${jobLimits.resultBytes} bytes.`,
  example: { loss: 0.12 },
}) as unknown as z.ZodType<Json, Json>;

const count = () => wholeNumber(0, jobLimits.progress);

const Progress = namedObject('Progress', {
  done: intLike(10),
  total: intLike(10, 'Null if it is not known.').nullable(),
});

const ProgressReport = z
  .object(
    {
      done: count(),
      total: count().nullish().describe('At least `done`. Absent: as before. Null: not known.'),
    },
    { error: 'must be an object with done and, if known, total' },
  )
  .meta({ id: 'ProgressReport', example: { done: 3, total: 10 } });

const CallUsageAnswer = namedObject('CallUsage', {
  tokens_in: intLike(27, 'Null if the model does not report it.').nullable(),
  tokens_out: intLike(7, 'Null if the model does not report it.').nullable(),
  time_to_first_token: z.number().nullable().meta({
    description: 'Seconds from the arrival to the first part of the answer. Null without a stream.',
    example: 0.084,
  }),
});

const AttemptAnswer = namedObject('Attempt', {
  model_id: id('mdl'),
  outcome: textLike('answered', '`answered`, `cancelled` if the caller left, or the code of the error.'),
  ms: intLike(840, 'Milliseconds from the beginning of the attempt to its end.'),
});

const JobAnswer = namedObject('Job', {
  id: id('job'),
  kind: z.enum(jobKinds).meta({ example: 'external' }),
  mode: z.enum(jobModes).meta({ description: '`sync`: a caller waits for its end.', example: 'async' }),
  status: z.enum(jobStatuses).meta({ example: 'succeeded' }),
  name: textLike('nightly training').nullable(),
  project_id: id('prj').nullable().meta({ example: null }),
  dataset_id: id('dst').nullable().meta({ example: null }),
  model_id: id('mdl').nullable().meta({ example: null }),
  requested_by: ActorId,
  created_at: Timestamp.describe('Seconds since the epoch. The arrival of a call.'),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp.nullable().meta({ example: 1763683262.623 }),
  duration: z
    .number()
    .nullable()
    .meta({ description: 'Seconds from start to end. Null before the end, or if it never started.', example: 62.5 }),
  progress: Progress,
  result: AnyJson.meta({ description: 'Any JSON value. Null if there is none.', example: { loss: 0.12 } }),
  error: z.string().nullable().meta({ example: null }),
  usage: CallUsageAnswer.nullable().describe(
    'The figures of a call, known at its end. Null for a job that is no call.',
  ),
  cost: Cost.nullable().meta({
    description:
      'What a call has cost, in `currency`, known at its end. Null if its model has no prices, and for a job that is no call. ' +
      'A call that failed before the first part of its answer costs nothing.',
  }),
  currency: Currency,
  attempts: z
    .array(AttemptAnswer)
    .nullable()
    .meta({
      description:
        'The models that a chat or embedding has tried, in order. `model_id` of the job is the last one. Null before the end ' +
        'of the call, and for other jobs.',
      example: null,
    }),
});

const NewExternalJob = namedObject('NewExternalJob', {
  kind: z.literal('external'),
  name: nameText(jobLimits.nameLength, 'nightly training'),
  project_id: idText('prj').nullish().describe('A project of your own team.'),
  status: choice(openStatuses).default('running'),
  progress: ProgressReport.optional(),
});

const NewEvaluation = namedObject('NewEvaluation', {
  kind: z.literal('evaluation'),
  name: nameText(jobLimits.nameLength, 'shorter prompt').optional(),
  project_id: idText('prj').describe('A project of your own team, with a started runtime.'),
  dataset_id: idText('dst').describe('A frozen dataset of the project.'),
  model_id: idText('mdl').nullish().describe('The connected model. It may be left out.'),
});

export const createJob = api.post(path, {
  id: 'createJob',
  summary: 'Evaluate a model or record a job',
  description:
    'An `evaluation` runs a frozen dataset through the runtime of its project, with the `system_prompt` and the ' +
    '`response_format` of the spec, and scores the answers by its `acceptance.metric` (`exact`, `normalized`, `contains`, ' +
    '`numeric` with `acceptance.tolerance`, or `json_schema`), overall and by group. `acceptance.field` is the path of the ' +
    'field of a JSON answer that is compared, such as `places.0.city`. Without a `name`, it has the name of the dataset. ' +
    'An evaluation continues after a restart of the service. ' +
    `One evaluation of a team runs at a time, and at most ${QUEUED_PER_TEAM} wait.\n\n` +
    'An `external` job is work that runs elsewhere, such as a training pipeline or a cron job, and reports its progress ' +
    'by `PATCH`. Alert rules look at it when it finishes.',
  access: permissions.runJobs,
  body: z.discriminatedUnion('kind', [NewExternalJob, NewEvaluation], { error: 'must be "external" or "evaluation"' }),
  status: 201,
  otherStatus: { status: 202, when: 'The evaluation is queued.' },
  answer: JobAnswer,
  refusals: [
    'quota_exceeded',
    'email_unverified',
    'session_required',
    'not_found',
    'model_busy',
    'runtime_not_connected',
    'runtime_stopped',
  ],
});

export const listJobs = api.get(path, {
  id: 'listJobs',
  summary: 'List jobs',
  description:
    'Lists the jobs of your team, newest first. A page has fewer jobs than `limit` if their results are long. Operators ' +
    'also see the jobs of other teams, without `name`, `result` and `error`. Every chat completion, embedding call and ' +
    'prediction that a model began is a job, too, and is kept for 30 days.',
  access: permissions.readJobs,
  query: Page.extend({
    status: choice(jobStatuses).optional().describe('Only jobs of this status.'),
    kind: choice(jobKinds).optional().describe('Only jobs of this kind.'),
    project_id: z
      .string()
      .regex(/^prj_[0-9a-f-]{36}$/, { error: 'must be the id of a project' })
      .optional()
      .describe('Only jobs of this project.'),
    q: SearchText.optional().describe(
      `Only jobs of your own with this text in their name, in upper or lower case, among your team's newest ${MOST_SEARCHED} jobs that have a name.`,
    ),
  }),
  answer: pageOfList('jobs', JobAnswer, 'Jobs'),
  refusals: ['busy'],
});

export const readJob = api.get(one, {
  id: 'readJob',
  summary: 'Read a job',
  access: permissions.readJobs,
  answer: JobAnswer,
});

export const changeJob = api.patch(one, {
  id: 'changeJob',
  summary: 'Report the progress of an external job',
  description:
    'Takes `external` jobs of your own team, and of any team with the master key. A job goes from `queued` to `running` ' +
    'to `succeeded`, `failed` or `cancelled`, and never back. All alert rules are applied to a finished job before the ' +
    'answer is sent.',
  access: permissions.runJobs,
  body: z
    .object({
      status: choice(jobStatuses).optional(),
      progress: ProgressReport.optional(),
      result: Result.optional(),
      error: text()
        .nullish()
        .meta({
          maxLength: jobLimits.errorBytes,
          description: `At most ${jobLimits.errorBytes} bytes in UTF-8.`,
          example: 'out of memory',
        }),
    })
    .meta({ id: 'JobChange', example: { status: 'succeeded', result: { loss: 0.12 } } }),
  exactNumbers: true,
  answer: JobAnswer,
  refusals: ['email_unverified', 'job_finished'],
});

export const cancelJob = api.post(`${one}/cancel`, {
  id: 'cancelJob',
  summary: 'Cancel a job',
  description:
    'Takes jobs of your own team, and of any team with the master key. Chat completions, ' +
    'embedding calls and predictions cannot be cancelled here: end their call.',
  access: permissions.cancelJobs,
  answer: JobAnswer,
  refusals: ['job_finished', 'invalid_request'],
});
