import { z } from 'zod';
import { permissions } from '../../../../domain/accounts/permission.js';
import { contractsOf } from '../../contract.js';
import { AnyJson, id, intLike, namedObject, textLike } from '../../schemas.js';
import { CONVERSATION, ConversationHeader, runtimeRefusals, UsageAnswer } from '../dialects.js';
import { OPENAI, OpenAiError } from './openai-errors.js';
import { OpenAiChatRequest, refusalOf, refuseFirst } from './openai-request.js';

const api = contractsOf('OpenAI');

const Model = namedObject('OpenAiModel', {
  id: id('prj').describe('The id of the project.'),
  object: z.literal('model'),
  created: intLike(1763683200, 'Whole seconds since the epoch.'),
  owned_by: id('tea').describe('The id of your team.'),
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

const finishReason = z.enum(['stop', 'length', 'tool_calls']);

const toolCalls = z.array(AnyJson).optional().describe('Only from an engine elsewhere.');

const completionFields = {
  id: textLike('chatcmpl-0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11'),
  created: intLike(1763683200, 'Whole seconds since the epoch.'),
  model: id('prj').describe('The id of the project.'),
};

const OpenAiChatCompletion = namedObject('OpenAiChatCompletion', {
  ...completionFields,
  object: z.literal('chat.completion'),
  choices: z.array(
    z.object({
      index: intLike(0),
      message: z.object({
        role: z.literal('assistant'),
        content: textLike('Paris.').nullable(),
        refusal: z.null(),
        tool_calls: toolCalls,
      }),
      logprobs: Logprobs,
      finish_reason: finishReason,
    }),
  ),
  usage: UsageAnswer,
});

const ChatCompletionChunk = namedObject('ChatCompletionChunk', {
  ...completionFields,
  object: z.literal('chat.completion.chunk'),
  choices: z
    .array(
      z.object({
        index: intLike(0),
        delta: z.object({
          role: z.literal('assistant').optional(),
          content: textLike('Paris').optional(),
          tool_calls: toolCalls,
        }),
        logprobs: Logprobs,
        finish_reason: finishReason.nullable().meta({ example: null }),
      }),
    )
    .describe('Empty in the chunk with the usage.'),
  usage: UsageAnswer.optional().meta({
    description: 'Only with `include_usage`. Null except in the last chunk.',
    example: null,
  }),
});

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
    'An ONNX model refuses `tools`, `tool_choice` and parts that are not text with 400 `unsupported_parameter`.\n\n' +
    'An ONNX model keeps to `response_format`: its answer parses and validates unless it ends by length or at a stop ' +
    'text. A schema that it cannot keep to gets 400, with a message that names the keyword and its place in `param`. ' +
    'An answer of an engine elsewhere that ends by `stop` and does not validate against the schema of a `strict` ' +
    '`response_format` is 502 `runtime_invalid_response`.\n\n' +
    '`X-Conversation-Id` stores the turn, as in `POST /v1/projects/{project_id}/chat/completions`. A stream ' +
    'that fails, or that the caller leaves, stores nothing.',
  access: permissions.chat,
  headers: { [CONVERSATION]: ConversationHeader },
  body: OpenAiChatRequest,
  bodyLimit: 'chat',
  refuseFirst,
  refusalOf,
  answer: OpenAiChatCompletion,
  answerEvents: z.union([ChatCompletionChunk, OpenAiError]),
  answerHeaders: { [CONVERSATION]: 'The conversation that stores the turn. Absent if none was requested.' },
  refusals: ['quota_exceeded', 'not_found', 'unknown_parameter', 'unsupported_parameter', ...runtimeRefusals],
});
