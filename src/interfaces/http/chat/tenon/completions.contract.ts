import { z } from 'zod';
import { permissions } from '../../../../domain/accounts/permission.js';
import { chatLimits, chatRoles } from '../../../../domain/chat/chat.js';
import { conversationLimits } from '../../../../domain/chat/conversation.js';
import { StreamingUnsupported } from '../../../../domain/chat/errors.js';
import type { DomainError } from '../../../../domain/shared/errors.js';
import { contractsOf } from '../../contract.js';
import { id, intLike, namedObject, shortText, text, textLike, wholeNumber } from '../../schemas.js';
import {
  CONVERSATION,
  ConversationHeader,
  characters,
  MODEL,
  refuseTooMany,
  runtimeRefusals,
  UsageAnswer,
} from '../dialects.js';

const api = contractsOf('Inference');

const { messages, messageLength, combinedLength, maxTokens, defaultMaxTokens, temperature } = chatLimits;

const Message = z
  .strictObject({
    role: z.enum(chatRoles, { error: `must be one of ${chatRoles.join(', ')}` }),
    content: shortText(messageLength),
  })
  .meta({ id: 'ChatMessage' });

const messagesError = `must be an array of 1 to ${messages} messages`;

const Messages = z
  .array(Message, { error: messagesError })
  .min(1, { error: messagesError })
  .max(messages, { error: messagesError })
  .refine((all) => all.length === 0 || all.at(-1)?.role === 'user', {
    error: 'must end with a message whose role is user',
  })
  .refine((all) => all.reduce((sum, one) => sum + characters(one.content), 0) <= combinedLength, {
    error: `must have at most ${combinedLength} characters together`,
  });

const temperatureError = `must be a number from 0 to ${temperature}`;

const projectId = 'prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';

const ChatCompletionRequest = z
  .strictObject({
    model: text().meta({ description: 'The project id of the path.', example: projectId }),
    messages: Messages.meta({
      description: `At most ${messageLength} characters each and ${combinedLength} together. The last message must be the user's.`,
      example: [{ role: 'user', content: 'What is the capital of France?' }],
    }),
    max_tokens: wholeNumber(1, maxTokens)
      .optional()
      .describe(`The default is the smaller of ${defaultMaxTokens} and the rest of the model's context.`),
    temperature: z
      .number({ error: temperatureError })
      .min(0, { error: temperatureError })
      .max(temperature, { error: temperatureError })
      .default(0)
      .describe('At 0 the likeliest token is always taken. Above 0, tokens are chosen at random.'),
    stream: z.boolean({ error: 'must be false' }).default(false).meta({ description: 'Must be false.', const: false }),
  })
  .meta({ id: 'ChatCompletionRequest' });

const ChatCompletionAnswer = namedObject('ChatCompletion', {
  id: textLike('chatcmpl-0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11'),
  object: z.literal('chat.completion'),
  created: intLike(1763683200, 'Whole seconds since the epoch.'),
  model: id('prj').describe('The project id.'),
  choices: z.array(
    z.object({
      index: intLike(0),
      message: z.object({ role: z.literal('assistant'), content: textLike('Paris.') }),
      finish_reason: z.enum(['stop', 'length']),
    }),
  ),
  usage: UsageAnswer,
});

/** Refuses `stream: true` with the code `streaming_unsupported`. Refuses too many messages. */
function refuseFirst(json: unknown): DomainError | null {
  const isStream = (json as { stream?: unknown } | null)?.stream === true;
  return isStream ? new StreamingUnsupported() : refuseTooMany(json, 'messages', messages, messagesError);
}

export const createChatCompletion = api.post('/v1/projects/{project_id}/chat/completions', {
  id: 'createChatCompletion',
  summary: 'Answer a chat',
  description:
    'OpenAI-compatible: client libraries work with `{base_url}/v1/projects/{project_id}` as their base URL. ' +
    'The runtime must be ready. At temperature 0 the answer is deterministic.\n\n' +
    'Without `X-Conversation-Id` the messages are not stored. With `new`, all messages of the request and the answer ' +
    `become a conversation. The first ${conversationLimits.titleLength} characters of the first question are its title. ` +
    'With the id of a conversation, the last message and the answer are added to it. In both cases everything is ' +
    'stored before the answer is sent. A call that is refused, fails or is aborted adds nothing to a conversation. If the ' +
    `conversation is deleted meanwhile, the call gets 404 \`not_found\`. A conversation holds at most ${conversationLimits.messages} messages, and an account has ` +
    `at most ${conversationLimits.perProject} conversations in a project. A call beyond these limits is refused at once.`,
  access: permissions.chat,
  headers: { [CONVERSATION]: ConversationHeader },
  body: ChatCompletionRequest,
  bodyLimit: 'chat',
  refuseFirst,
  answer: ChatCompletionAnswer,
  answerHeaders: {
    [MODEL]: 'The registered model that has answered.',
    [CONVERSATION]: 'The conversation that stores the messages. Absent if none was requested.',
  },
  refusals: ['quota_exceeded', 'streaming_unsupported', 'model_mismatch', ...runtimeRefusals],
});
