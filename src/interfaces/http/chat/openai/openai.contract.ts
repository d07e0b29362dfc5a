import { z } from 'zod';
import { permissions } from '../../../../domain/accounts/permission.js';
import { MODEL_LEVELS } from '../../body.js';
import { contractsOf } from '../../contract.js';
import { id, intLike, namedObject, textLike } from '../../schemas.js';
import { CONVERSATION, ConversationHeader, MODEL, MODEL_ANSWERED, runtimeRefusals } from '../dialects.js';
import { OPENAI, OpenAiError } from './openai-errors.js';
import { DocumentedChatRequest, OpenAiChatRequest } from './openai-request.js';

const api = contractsOf('OpenAI');

const Model = namedObject('OpenAiModel', {
  id: textLike(
    'Support',
    'The name of the project, or its id if the name is not its own. Both are accepted everywhere.',
  ),
  object: z.literal('model'),
  created: intLike(1763683200, 'Whole seconds since the epoch.'),
  owned_by: id('tea').describe('The id of your team.'),
  project_id: id('prj'),
  context_length: z
    .int()
    .nullable()
    .meta({ description: 'The most tokens of a prompt with its answer. Null while it is unknown.', example: 2048 }),
});

export const listOpenAiModels = api.get(`${OPENAI}/models`, {
  id: 'listOpenAiModels',
  summary: 'List the models to chat with, in the form of OpenAI',
  description: 'Lists the projects of your team with a connected runtime, also a stopped one.',
  access: permissions.chat,
  answer: namedObject('OpenAiModels', { object: z.literal('list'), data: z.array(Model) }),
});

export const readOpenAiModel = api.get(`${OPENAI}/models/{model*}`, {
  id: 'readOpenAiModel',
  summary: 'Read a model to chat with, in the form of OpenAI',
  access: permissions.chat,
  answer: Model,
  refusals: ['not_found'],
});

const Token = {
  token: textLike('Paris'),
  bytes: z.array(z.int()).meta({ description: 'The UTF-8 bytes of the token.', example: [80, 97, 114, 105, 115] }),
  logprob: z.number().meta({ description: 'The natural logarithm of the probability.', example: -0.02 }),
};

const Logprobs = z
  .object({
    content: z.array(z.object({ ...Token, top_logprobs: z.array(z.object(Token)) })),
    refusal: z.null(),
  })
  .nullable()
  .meta({ description: 'Null if `logprobs` was not requested.', example: null });

const finishReason = textLike(
  'stop',
  '`stop`, `length`, `tool_calls` or `function_call`. An engine elsewhere may have others.',
);

const Called = z.looseObject({
  name: textLike('get_weather').nullish(),
  arguments: textLike('{"city": "Paris"}', 'JSON.').nullish(),
});

const ToolCall = z.looseObject({
  index: intLike(0, 'Only in a stream: the place of the call in the answer.').optional(),
  id: textLike('call_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11').nullish(),
  type: z.string().nullish().meta({ example: 'function' }),
  function: Called.nullish(),
});

const calls = {
  tool_calls: z
    .array(ToolCall)
    .nullish()
    .describe('In a stream, only the first part of a call has its id and name, and the arguments come in pieces.'),
  function_call: Called.nullish().describe('In place of `tool_calls`, if the request has `functions`.'),
};

const completionFields = {
  id: textLike('chatcmpl-0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11'),
  created: intLike(1763683200, 'Whole seconds since the epoch.'),
  model: textLike('prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', 'As the caller sent it.'),
};

const AnyUsage = z.looseObject({
  prompt_tokens: intLike(17),
  completion_tokens: intLike(2),
  total_tokens: intLike(19).optional(),
  prompt_tokens_details: z
    .looseObject({ cached_tokens: intLike(0, 'The tokens of the prompt that were in the prefix cache.').nullish() })
    .nullish(),
});

/** An answer of an engine elsewhere may have further fields at every level. */
const OpenAiChatCompletion = z
  .looseObject({
    ...completionFields,
    object: z.literal('chat.completion'),
    choices: z.array(
      z.looseObject({
        index: intLike(0).optional(),
        message: z.looseObject({
          role: z.literal('assistant'),
          content: textLike('Paris.').nullish(),
          refusal: z.string().nullish().meta({ example: null }),
          ...calls,
        }),
        logprobs: Logprobs.optional(),
        finish_reason: finishReason.nullish(),
      }),
    ),
    usage: AnyUsage.nullish(),
  })
  .meta({ id: 'OpenAiChatCompletion' });

const ChatCompletionChunk = z
  .looseObject({
    ...completionFields,
    object: z.literal('chat.completion.chunk'),
    choices: z
      .array(
        z.looseObject({
          index: intLike(0).optional(),
          delta: z
            .looseObject({
              role: z.literal('assistant').optional(),
              content: textLike('Paris').nullish(),
              ...calls,
            })
            .nullish(),
          logprobs: Logprobs.optional(),
          finish_reason: finishReason.nullish().meta({ example: null }),
        }),
      )
      .describe('Empty in the chunk with the usage.'),
    usage: AnyUsage.nullish().meta({
      description: 'Only with `include_usage`. Null except in the last chunk.',
      example: null,
    }),
  })
  .meta({ id: 'ChatCompletionChunk' });

export const createOpenAiChatCompletion = api.post(`${OPENAI}/chat/completions`, {
  id: 'createOpenAiChatCompletion',
  summary: 'Answer a chat, in the form of OpenAI',
  description:
    'For programs that expect OpenAI’s API: their base URL is `{base_url}/openai/v1`. The runtime must be ready. ' +
    'At temperature 0, and with a `seed`, the answer is deterministic.\n\n' +
    '`stream: true` answers server-sent events: chunks, then `[DONE]`. A failure before the first event has its ' +
    'ordinary status. A later failure is the last event, with an `OpenAiError` and without `[DONE]`. ' +
    'A revoked credential or a removed account is such a failure, within two seconds. A comment line comes after each ' +
    '15 s without an event. The time limit of an answer covers the whole stream.\n\n' +
    'An engine elsewhere gets the request as it was sent, with another `model`. Its answer comes back as it is, too. ' +
    'An ONNX model refuses a field that it cannot honour with 400 `unsupported_parameter`, and a field that nobody ' +
    'documents with 400 `unknown_parameter`.\n\n' +
    'An ONNX model keeps to `response_format`: its answer parses and validates unless it ends by length or at a stop ' +
    'text. A schema that it cannot keep to gets 400, with a message that names the keyword and its place in `param`. ' +
    'An ONNX model whose chat template knows `tools` can call them. The arguments of a complete call always validate ' +
    'against the schema of the function, and a call may contain the texts of `stop`. With `tools` and ' +
    '`response_format`, the answer either calls tools or has the format. For a model that does not know tools, `tools` ' +
    'is 400 `unsupported_parameter`.\n\n' +
    'An answer of an engine elsewhere that ends by `stop` and does not validate against the schema of a `strict` ' +
    '`response_format` is 502 `runtime_invalid_response`.\n\n' +
    '`X-Conversation-Id` stores the turn, as in `POST /v1/projects/{project_id}/chat/completions`. A stream ' +
    'that fails, or that the caller leaves, stores nothing.',
  access: permissions.chat,
  headers: { [CONVERSATION]: ConversationHeader },
  body: OpenAiChatRequest,
  documentedBody: DocumentedChatRequest,
  bodyLimit: 'model',
  mostLevels: MODEL_LEVELS,
  answer: OpenAiChatCompletion,
  answerEvents: z.union([ChatCompletionChunk, OpenAiError]),
  answerHeaders: {
    [MODEL]: MODEL_ANSWERED,
    [CONVERSATION]: 'The conversation that stores the turn. Absent if none was requested.',
  },
  refusals: ['quota_exceeded', 'not_found', 'unknown_parameter', 'unsupported_parameter', ...runtimeRefusals],
});
