import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { chatLimits, chatRoles } from '../../../domain/chat/chat.js';
import { conversationLimits } from '../../../domain/chat/conversation.js';
import { StreamingUnsupported } from '../../../domain/chat/errors.js';
import { type DomainError, InvalidRequest } from '../../../domain/shared/errors.js';
import { contract } from '../contract.js';
import { id, text, wholeNumber } from '../schemas.js';

const { messages, messageLength, combinedLength, maxTokens, defaultMaxTokens, temperature } = chatLimits;

/** Characters are code points, so that no script and no emoji counts double. */
const characters = (content: string) => {
  let count = 0;
  for (const _ of content) count++;
  return count;
};

const Message = z
  .strictObject({
    role: z.enum(chatRoles, { error: `must be one of ${chatRoles.join(', ')}` }),
    content: text()
      .refine((content) => content.length <= messageLength || characters(content) <= messageLength, {
        error: `must have at most ${messageLength} characters`,
      })
      .meta({ maxLength: messageLength }),
  })
  .meta({ id: 'ChatMessage' });

const count = `must be an array of 1 to ${messages} messages`;

const Messages = z
  .array(Message, { error: count })
  .min(1, { error: count })
  .max(messages, { error: count })
  .refine((all) => all.length === 0 || all.at(-1)?.role === 'user', {
    error: 'must end with a message whose role is user',
  })
  .refine((all) => all.reduce((sum, one) => sum + characters(one.content), 0) <= combinedLength, {
    error: `must have at most ${combinedLength} characters together`,
  });

const range = `must be a number from 0 to ${temperature}`;

const projectId = 'prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';

export const ChatCompletionRequest = z
  .strictObject({
    model: text().meta({ description: 'The project id of the path', example: projectId }),
    messages: Messages.meta({
      description: `At most ${messageLength} characters each and ${combinedLength} together; the last one is the user's.`,
      example: [{ role: 'user', content: 'What is the capital of France?' }],
    }),
    max_tokens: wholeNumber(1, maxTokens)
      .optional()
      .meta({ description: `Absent: the smaller of ${defaultMaxTokens} and what the model's context has left.` }),
    temperature: z
      .number({ error: range })
      .min(0, { error: range })
      .max(temperature, { error: range })
      .default(0)
      .meta({ description: '0: the likeliest token, always; above, tokens are drawn' }),
    stream: z.boolean({ error: 'must be false' }).default(false).meta({ description: 'Must be false.', const: false }),
  })
  .meta({ id: 'ChatCompletionRequest' });

const ChatCompletionAnswer = z
  .object({
    id: z.string().meta({ example: 'chatcmpl-0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11' }),
    object: z.literal('chat.completion'),
    created: z.int().meta({ description: 'Whole seconds since the epoch', example: 1763683200 }),
    model: id('prj').meta({ description: 'The project id' }),
    choices: z.array(
      z.object({
        index: z.int().meta({ example: 0 }),
        message: z.object({ role: z.literal('assistant'), content: z.string().meta({ example: 'Paris.' }) }),
        finish_reason: z.enum(['stop', 'length']),
      }),
    ),
    usage: z
      .object({
        prompt_tokens: z.int().meta({ example: 17 }),
        completion_tokens: z.int().meta({ example: 2 }),
        total_tokens: z.int().meta({ example: 19 }),
        prompt_tokens_details: z.object({
          cached_tokens: z
            .int()
            .meta({ description: 'Those of the prompt that an earlier call had left ready', example: 0 }),
        }),
      })
      .nullable()
      .meta({ description: 'Null where the runtime does not report it' }),
  })
  .meta({ id: 'ChatCompletion' });

/** Streaming has a code of its own; and messages are counted before any is looked at, so that very many cost nothing. */
function refuseFirst(json: unknown): DomainError | null {
  const { stream, messages: given } = (json ?? {}) as { stream?: unknown; messages?: unknown };
  if (stream === true) return new StreamingUnsupported();
  const tooMany = Array.isArray(given) && given.length > messages;
  return tooMany ? new InvalidRequest([{ path: 'messages', message: count }]) : null;
}

export const CONVERSATION = 'X-Conversation-Id';

const ConversationHeader = z
  .string()
  .regex(/^(new|cnv_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/, {
    error: 'must be "new" or the id of a conversation, cnv_…',
  })
  .optional()
  .meta({ description: '`new`, or the id of a conversation of your own in this project', example: 'new' });

export const createChatCompletion = contract({
  id: 'createChatCompletion',
  method: 'post',
  path: '/v1/projects/{project_id}/chat/completions',
  tag: 'Inference',
  summary: 'Answer a chat',
  description:
    'OpenAI-compatible: a client library works with `{base_url}/v1/projects/{project_id}` as its base URL. ' +
    'The runtime must be ready. Deterministic at temperature 0. Additional fields are refused.\n\n' +
    'Without `X-Conversation-Id` nothing of the chat is stored. With `new`, all messages of the request and the answer ' +
    `become a conversation, titled by the first ${conversationLimits.titleLength} characters of the first question; with the ` +
    'id of one of the account’s own conversations in this project, the last message and the answer are added to it, ' +
    'since the earlier ones are there. The turn is stored, whole, before the answer is sent; a call that is refused, ' +
    'fails or is given up stores nothing. If the conversation is deleted while the answer is made, the answer is ' +
    `404 \`not_found\`. A conversation holds at most ${conversationLimits.messages} messages, and an account has at most ` +
    `${conversationLimits.perProject} conversations in a project: beyond, the call is refused before the model is asked.`,
  access: permissions.chat,
  headers: { [CONVERSATION]: ConversationHeader },
  body: ChatCompletionRequest,
  bodyLimit: 'chat',
  refuseFirst,
  answer: ChatCompletionAnswer,
  answerHeaders: { [CONVERSATION]: 'The conversation that the turn is stored in. Absent where none was asked for.' },
  refusals: [
    'context_length_exceeded',
    'streaming_unsupported',
    'model_mismatch',
    'model_busy',
    'runtime_invalid_response',
    'runtime_not_connected',
    'runtime_loading',
    'runtime_stopped',
    'runtime_unavailable',
    'inference_timeout',
  ],
});
