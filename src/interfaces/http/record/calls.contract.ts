import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { callKinds, finalStatuses } from '../../../domain/jobs/job.js';
import { CallPlace } from '../../../domain/record/call-place.js';
import { feedbackLimits } from '../../../domain/record/feedback.js';
import { KeptCall, keptContents } from '../../../domain/record/kept-call.js';
import { callLimits } from '../../../domain/record/kept-part.js';
import { contractsOf } from '../contract.js';
import { fileFormats, fileTypes } from '../files.js';
import { Page, pageOfList, SearchText } from '../paging.js';
import {
  ActorId,
  AnyJson,
  Cost,
  Currency,
  choice,
  Deleted,
  id,
  intLike,
  namedObject,
  Timestamp,
  textLike,
} from '../schemas.js';

const api = contractsOf('Calls');
const path = '/v1/projects/{project_id}/calls';
const one = `${path}/{call_id}` as const;

/** The id of a call in a path. */
export const CallName = z.string().regex(KeptCall.NAME).meta({
  description:
    'The id of the job of a call, or the id in its answer, such as `chatcmpl-…`, `cmpl-…`, `msg_…` or `resp_…`. The id of an item of a response names the response.',
  example: 'job_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
});

export const FeedbackAnswer = namedObject('Feedback', {
  id: id('fbk'),
  account_id: ActorId,
  key_id: id('key').nullable().meta({ description: 'The API key that sent it. Null: a session.', example: null }),
  score: z.number().nullable().meta({ example: 1 }),
  label: textLike('helpful').nullable(),
  comment: textLike('Short and right.').nullable(),
  correction: AnyJson.meta({ description: 'The answer that the call should have had, or null.', example: 'Paris' }),
  created_at: Timestamp,
  is_current: z.boolean().meta({ description: 'False: the account has said something else since.', example: true }),
});

const side = `At most about ${callLimits.sideBytes / 1024} KB of JSON are kept. Null if the content is not kept.`;

export const CallAnswer = namedObject('Call', {
  id: id('job').describe('The id of the job.'),
  answer_id: textLike(
    'chatcmpl-0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
    'The id in the answer. Null if it has none.',
  ).nullable(),
  project_id: id('prj'),
  kind: z.enum(callKinds).meta({ example: 'chat' }),
  status: z.enum(finalStatuses).meta({ example: 'succeeded' }),
  failure: textLike('runtime_unavailable', 'The code of the error of a failed call, else null.').nullable(),
  model_id: id('mdl').nullable(),
  account_id: ActorId,
  key_id: id('key').nullable().meta({ description: 'The API key of the call. Null: a session.', example: null }),
  created_at: Timestamp.describe('The arrival of the call, in seconds since the epoch.'),
  started_at: Timestamp.nullable(),
  finished_at: Timestamp,
  duration: z
    .number()
    .nullable()
    .meta({ description: 'Seconds from start to end. Null if it never started.', example: 0.84 }),
  content: z.enum(keptContents).meta({
    description:
      '`full`: request and answer are kept. `none`: the project keeps none. `unmaskable`: they could not be masked.',
    example: 'full',
  }),
  request: AnyJson.meta({
    description: `The request in neutral form: \`messages\` or \`texts\`, \`tools\` and settings. ${side} Images are never kept.`,
    example: {
      max_tokens: null,
      temperature: 0,
      messages: [{ role: 'user', content: 'What is the capital of France?' }],
    },
  }),
  answer: AnyJson.meta({
    description: `The answer, or the part that was made: \`content\`, \`tool_calls\`, \`reasoning\`, \`finish_reason\`; further answers in \`others\`. ${side}`,
    example: { role: 'assistant', finish_reason: 'stop', content: 'Paris' },
  }),
  truncated: z.boolean().meta({
    description: 'True: the request or the answer was too long, so only its beginning is kept.',
    example: false,
  }),
  usage: namedObject('CallTokens', {
    tokens_in: intLike(27, 'Null if the model does not report it.').nullable(),
    tokens_out: intLike(7, 'Null if the model does not report it.').nullable(),
    time_to_first_token: z.number().nullable().meta({
      description: 'Seconds from the arrival to the first part of the answer. Null without a stream.',
      example: 0.084,
    }),
  }).nullable(),
  cost: Cost.nullable(),
  currency: Currency,
  attempts: z.array(
    namedObject('CallAttempt', {
      model_id: id('mdl'),
      outcome: textLike('answered', '`answered`, `cancelled` if the caller left, or the code of the error.'),
      ms: intLike(840, 'Milliseconds from the beginning of the attempt to its end.'),
    }),
  ),
  feedback: z.array(FeedbackAnswer).meta({
    description:
      'The newest first. The call itself has all feedback with its history. A list and an export have the newest feedback ' +
      `that counts, at most ${feedbackLimits.listed} with ${feedbackLimits.listedBytes / 1024} KB together.`,
  }),
  expires_at: Timestamp.describe('The call is deleted then.'),
});

/** Accepts a number of JSON in a query string. */
const numberText = (minimum: number, maximum: number, error: string) => {
  const written = z.string({ error }).regex(/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i, { error });
  const number = written.transform(Number).pipe(z.number().min(minimum, { error }).max(maximum, { error }));
  return number.meta({ type: 'number', minimum, maximum });
};

const time = (what: string) =>
  numberText(0, 100_000_000_000, 'must be a time in seconds since the epoch')
    .optional()
    .meta({ description: `${what}, in seconds since the epoch.`, example: 1763683200 });

const idOf = (kind: string, what: string) =>
  z
    .string()
    .regex(new RegExp(`^${kind}_[0-9a-f-]{36}$`), { error: `must be the id of ${what}` })
    .optional();

const labelError = { error: 'must have 1 to 64 characters' };

const filters = {
  since: time('Only calls that arrived at this time or later'),
  until: time('Only calls that arrived before this time'),
  model_id: idOf('mdl', 'a model').describe('Only calls that this model has answered, or was the last one to try.'),
  key_id: idOf('key', 'an API key').describe('Only calls with this API key.'),
  account_id: idOf('usr', 'an account').describe('Only calls of this account.'),
  status: choice(finalStatuses).optional(),
  score: numberText(-1, 1, 'must be a number from -1 to 1')
    .optional()
    .describe('Only calls with a current feedback that has exactly this score.'),
  label: z
    .string()
    .min(1, labelError)
    .max(64, labelError)
    .optional()
    .describe('Only calls with a current feedback that has this label.'),
  q: SearchText.optional().describe(
    'Only calls with all these whole words in the beginning of their content, in upper or lower case.',
  ),
};

const cursor = z
  .string()
  .regex(CallPlace.text, { error: 'must be the next_cursor of an earlier answer' })
  .optional()
  .meta({ description: 'The `next_cursor` of the page before.' });

const whose = 'Members see their own calls, admins and developers those of the whole team.';

export const listCalls = api.get(path, {
  id: 'listCalls',
  summary: 'List the calls that a project keeps',
  description:
    `The newest first, by their arrival. The filters can be combined. A page has fewer calls than \`limit\` if their contents ` +
    `are long. Calls that arrive meanwhile are on no later page. ${whose}`,
  access: permissions.readWorkspace,
  query: Page.extend({ ...filters, cursor }),
  answer: pageOfList('calls', CallAnswer, 'Calls'),
  refusals: ['busy'],
});

export const readCall = api.get(one, {
  id: 'readCall',
  summary: 'Read a call that a project keeps',
  description:
    `Takes the id of the job, or the id in the answer, such as \`chatcmpl-…\`, \`cmpl-…\`, \`resp_…\` or \`msg_…\`. The id of an ` +
    `item of a response leads to the call of the response. ${whose}`,
  access: permissions.readWorkspace,
  params: { call_id: CallName },
  answer: CallAnswer,
  refusals: ['busy'],
});

export const deleteCall = api.delete(one, {
  id: 'deleteCall',
  summary: 'Delete a call that a project keeps',
  description: `Deletes its content and its feedback. Its job stays, which has neither. ${whose}`,
  access: permissions.deleteCalls,
  params: { call_id: CallName },
  answer: Deleted,
});

export const exportCalls = api.get(`${path}/export`, {
  id: 'exportCalls',
  summary: 'Export the calls that a project keeps',
  description:
    `All calls that the list has with these filters at this moment, as a file. JSON Lines has the objects of the list. CSV has ` +
    `request, answer, attempts and feedback as JSON. A cell of CSV that a spreadsheet would run as a formula begins with an apostrophe. ${whose}`,
  access: permissions.readWorkspace,
  query: z.object({
    format: z.enum(fileFormats, { error: `must be one of ${fileFormats.join(', ')}` }).default('jsonl'),
    ...filters,
  }),
  answer: z.string().meta({ example: '{"id":"job_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11","status":"succeeded"}\n' }),
  answerFiles: Object.values(fileTypes),
  refusals: ['busy'],
});
