import { z } from 'zod';
import { permissions } from '../../../../domain/accounts/permission.js';
import { MODEL_LEVELS } from '../../body.js';
import { contractsOf } from '../../contract.js';
import { AnyObject, intLike, namedObject, textLike } from '../../schemas.js';
import { MODEL, MODEL_ANSWERED, runtimeRefusals } from '../dialects.js';
import { AnthropicError, MESSAGES } from './anthropic-errors.js';
import { CountRequest, MessagesRequest, refuseThread } from './messages-request.js';

const api = contractsOf('Anthropic');

const TextContent = namedObject('AnthropicText', {
  type: z.literal('text'),
  text: textLike('Paris.'),
});
const ToolUse = namedObject('AnthropicToolUse', {
  type: z.literal('tool_use'),
  id: textLike('call_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11'),
  name: textLike('weather'),
  input: AnyObject.meta({ example: { city: 'Paris' } }),
});
const Thinking = namedObject('AnthropicThinking', {
  type: z.literal('thinking'),
  thinking: textLike('France has a capital.'),
  signature: z.literal(''),
});
const ContentBlock = z.discriminatedUnion('type', [TextContent, ToolUse, Thinking]);
export type ContentBlock = z.input<typeof ContentBlock>;

const StopReason = z.enum(['end_turn', 'max_tokens', 'stop_sequence', 'tool_use']);
export type StopReason = z.output<typeof StopReason>;

const usage = namedObject('AnthropicUsage', {
  input_tokens: intLike(17, 'The tokens of the prompt, without `cache_read_input_tokens`.'),
  cache_creation_input_tokens: intLike(0).nullable(),
  cache_read_input_tokens: intLike(
    0,
    'The tokens of the prompt that were in the prefix cache. Null for a request without `cache_control`.',
  ).nullable(),
  output_tokens: intLike(2),
}).describe('Zeros if an engine elsewhere does not report it. In a stream, `message_delta` has it.');

const ended = {
  stop_reason: StopReason.nullable().meta({ example: 'end_turn' }),
  stop_sequence: z
    .string()
    .nullable()
    .meta({ description: 'The text of `stop_sequences` that was reached.', example: null }),
};

const Message = namedObject('AnthropicMessage', {
  id: textLike('msg_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11'),
  type: z.literal('message'),
  role: z.literal('assistant'),
  model: textLike('prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', 'As the caller sent it.'),
  content: z.array(ContentBlock),
  ...ended,
  usage,
});

const index = intLike(0);

const Delta = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text_delta'), text: textLike('Paris') }),
  z.object({ type: z.literal('input_json_delta'), partial_json: textLike('{"city":') }),
  z.object({ type: z.literal('thinking_delta'), thinking: textLike('France') }),
]);

/** Describes the data of an event. Its type is also the type of the event. */
const MessageEvent = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('message_start'), message: Message }),
    z.object({ type: z.literal('ping') }),
    z.object({ type: z.literal('content_block_start'), index, content_block: ContentBlock }),
    z.object({ type: z.literal('content_block_delta'), index, delta: Delta }),
    z.object({ type: z.literal('content_block_stop'), index }),
    z.object({ type: z.literal('message_delta'), delta: z.object(ended), usage }),
    z.object({ type: z.literal('message_stop') }),
    AnthropicError,
  ])
  .meta({ id: 'AnthropicMessageEvent' });

const aboutKeys =
  'For programs that expect Anthropic’s API: their base URL is `{base_url}/openai`. The credential may also be in the ' +
  'header `x-api-key`. `anthropic-version` and `anthropic-beta` have no effect.';

const shared = {
  access: permissions.chat,
  bodyLimit: 'model',
  mostLevels: MODEL_LEVELS,
  refuseFirst: refuseThread,
} as const;

const refusals = [
  'not_found',
  'thread_unsupported_request',
  'unknown_parameter',
  'unsupported_parameter',
  'context_length_exceeded',
  'runtime_not_connected',
  'runtime_loading',
  'runtime_stopped',
  'runtime_unavailable',
] as const;

export const createAnthropicMessage = api.post(MESSAGES, {
  id: 'createAnthropicMessage',
  summary: 'Answer a chat, in the form of Anthropic',
  description:
    `${aboutKeys} Every engine can answer.\n\n` +
    '`stream: true` answers server-sent events, from `message_start` to `message_stop`. A failure before the first event ' +
    'has its ordinary status. A later failure is a last event `error`. A comment line comes after each 15 s without an ' +
    'event.\n\n' +
    'An engine elsewhere gets the request in the form of OpenAI: results of tools as messages of their own, thinking ' +
    'blocks of earlier answers as `reasoning_content`, `thinking` as `reasoning_effort`, and fields that nobody ' +
    'documents as they are. An ONNX model refuses those fields, pictures, and other fields that it cannot honour.',
  ...shared,
  body: MessagesRequest,
  answer: Message,
  answerEvents: MessageEvent,
  answerHeaders: { [MODEL]: MODEL_ANSWERED },
  refusals: [...refusals, ...runtimeRefusals],
});

export const countAnthropicTokens = api.post(`${MESSAGES}/count_tokens`, {
  id: 'countAnthropicTokens',
  summary: 'Count the tokens of a prompt, in the form of Anthropic',
  description:
    `${aboutKeys}\n\nFor an ONNX model the number is exact: its own tokenizer counts the prompt with the chat template. ` +
    'For an engine elsewhere it is an estimate: one token for each four characters of the texts, tools and schemas, and ' +
    '1,000 for each picture.',
  ...shared,
  body: CountRequest,
  answer: namedObject('AnthropicTokenCount', { input_tokens: intLike(17) }),
  refusals,
});
