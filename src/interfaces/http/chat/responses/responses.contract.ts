import { z } from 'zod';
import { permissions } from '../../../../domain/accounts/permission.js';
import { MODEL_LEVELS } from '../../body.js';
import { contractsOf } from '../../contract.js';
import { intLike, namedObject, textLike, wholeNumberText } from '../../schemas.js';
import { MODEL, MODEL_ANSWERED, runtimeRefusals } from '../dialects.js';
import { OPENAI } from '../openai/openai-errors.js';
import { refusalOf } from '../openai/understood-request.js';
import { ResponsesRequest } from './responses-request.js';

const api = contractsOf('OpenAI');
const path = `${OPENAI}/responses`;
const one = `${path}/{response_id}` as const;

const responseId = textLike('resp_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11');

const OutputItem = z
  .looseObject({ id: textLike('msg_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11-0'), type: textLike('message') })
  .meta({
    id: 'ResponseOutputItem',
    description: 'A `message`, a `function_call` or a `reasoning` item, as OpenAI publishes them.',
  });

const Usage = z.object({
  input_tokens: intLike(17),
  input_tokens_details: z.object({
    cached_tokens: intLike(0, 'The tokens of the prompt that were taken from the prefix cache.'),
    cache_write_tokens: intLike(0, 'Always 0.'),
  }),
  output_tokens: intLike(6),
  output_tokens_details: z.object({ reasoning_tokens: intLike(0, '0 if the engine does not report them.') }),
  total_tokens: intLike(23),
});

export const ResponseAnswer = z
  .looseObject({
    id: responseId,
    object: z.literal('response'),
    created_at: intLike(1763683200, 'Whole seconds since the epoch.'),
    status: z.enum(['completed', 'incomplete', 'failed', 'cancelled', 'queued', 'in_progress']),
    background: z.boolean().meta({ example: false }),
    completed_at: z.int().nullable().meta({ example: 1763683201 }),
    error: z
      .object({
        code: z.enum(['server_error', 'rate_limit_exceeded']),
        message: textLike('model_busy: The model is busy: try again in 2 s.', 'Begins with a code of the service.'),
      })
      .nullable()
      .meta({ description: 'Only of a response that failed.', example: null }),
    incomplete_details: z
      .object({ reason: z.literal('max_output_tokens') })
      .nullable()
      .meta({ example: null }),
    previous_response_id: z.string().nullable().meta({ example: null }),
    output: z.array(OutputItem),
    usage: Usage.nullable().describe('Null until the end, or if the runtime does not report it.'),
    model: textLike('prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', 'As the caller sent it.'),
  })
  .meta({ id: 'Response', description: 'Also has the other fields of the request.' });

const ResponseEvent = z
  .looseObject({
    type: textLike('response.output_text.delta'),
    sequence_number: intLike(4, 'Counts from 0 without a gap.'),
  })
  .meta({ id: 'ResponseEvent', description: 'An event as OpenAI publishes it.' });

const streamed =
  'The events have a `type` and a `sequence_number`, which counts from 0 without a gap. The last one is ' +
  '`response.completed`, `response.incomplete` or `response.failed`. A cancelled response ends with ' +
  '`response.incomplete`.';
const followed =
  'A response in the background goes on without its stream. A stream that fails then ends with an event `error`, which ' +
  'repeats the number of the last event: read on after this number. A stream of a response in the background lasts three ' +
  'minutes longer than `SERVICE_INFERENCE_TIMEOUT_S` at most.';

export const createResponse = api.post(path, {
  id: 'createResponse',
  summary: 'Answer a request of the Responses API',
  description:
    'For programs that use OpenAI’s Responses API. It works with every model: the request is translated. The response is ' +
    'stored for `SERVICE_RESPONSE_DAYS`, unless `store` is false. Only its account can read it, on every instance.\n\n' +
    `\`stream: true\` answers server-sent events. ${streamed} ${followed} A failure before the first event has its ordinary status.\n\n` +
    '`background: true` answers at once, and the work queue makes the answer. A crash of an instance does not end it.',
  access: permissions.chat,
  body: ResponsesRequest,
  refusalOf,
  bodyLimit: 'model',
  mostLevels: MODEL_LEVELS,
  answer: ResponseAnswer,
  answerEvents: ResponseEvent,
  answerHeaders: { [MODEL]: `${MODEL_ANSWERED} Also absent in the background.` },
  refusals: [
    'quota_exceeded',
    'not_found',
    'previous_response_not_found',
    'unknown_parameter',
    'unsupported_parameter',
    ...runtimeRefusals,
  ],
});

export const countInputTokens = api.post(`${path}/input_tokens`, {
  id: 'countInputTokens',
  summary: 'Count the tokens of a request',
  description:
    'Generates nothing. Takes the fields of a request, and counts its whole prompt, with the responses before it. The ' +
    'number is exact for an ONNX model. An engine elsewhere is not asked: there it is an estimate from the length of the ' +
    'texts.',
  access: permissions.chat,
  body: ResponsesRequest,
  refusalOf,
  bodyLimit: 'model',
  mostLevels: MODEL_LEVELS,
  answer: namedObject('ResponseInputTokens', {
    object: z.literal('response.input_tokens'),
    input_tokens: intLike(17),
  }),
  refusals: [
    'not_found',
    'previous_response_not_found',
    'unknown_parameter',
    'unsupported_parameter',
    'context_length_exceeded',
    'runtime_not_connected',
    'runtime_loading',
    'runtime_stopped',
    'runtime_unavailable',
  ],
});

const streamError = { error: 'must be true or false' };

export const readResponse = api.get(one, {
  id: 'readResponse',
  summary: 'Read a stored response, or its events',
  description: `With \`stream=true\`, answers the events of a response in the background, also while it is made. ${streamed} ${followed}`,
  access: permissions.chat,
  query: z.object({
    stream: z.enum(['true', 'false'], streamError).optional(),
    starting_after: wholeNumberText(0, 2_147_483_647)
      .optional()
      .describe('Only events with a greater `sequence_number`. Only with `stream=true`.'),
  }),
  answer: ResponseAnswer,
  answerEvents: ResponseEvent,
  refusals: ['busy', 'inference_timeout'],
});

export const deleteResponse = api.delete(one, {
  id: 'deleteResponse',
  summary: 'Delete a stored response',
  description: 'A response that is made in the background ends.',
  access: permissions.chat,
  answer: namedObject('ResponseDeleted', { id: responseId, object: z.literal('response'), deleted: z.literal(true) }),
});

export const cancelResponse = api.post(`${one}/cancel`, {
  id: 'cancelResponse',
  summary: 'Cancel a response in the background',
  description: 'A response that has ended stays as it is. A response that is not in the background gets 400.',
  access: permissions.chat,
  answer: ResponseAnswer,
  refusals: ['invalid_request', 'busy'],
});

export const listInputItems = api.get(`${one}/input_items`, {
  id: 'listInputItems',
  summary: 'List the items of a request, newest first',
  description: 'Lists the items that the request itself had, not those of the responses before.',
  access: permissions.chat,
  query: z.object({
    limit: wholeNumberText(1, 100).default(20).meta({ default: 20 }),
    order: z.enum(['asc', 'desc'], { error: 'must be asc or desc' }).default('desc').meta({ default: 'desc' }),
    after: z.string().optional().describe('The last id of the page before.'),
  }),
  answer: namedObject('ResponseItems', {
    object: z.literal('list'),
    data: z.array(z.looseObject({ id: textLike('in_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11-0-0') })),
    first_id: z.string().nullable().meta({ example: 'in_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11-0-0' }),
    last_id: z.string().nullable().meta({ example: 'in_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11-0-0' }),
    has_more: z.boolean().meta({ example: false }),
  }),
  refusals: ['busy'],
});
