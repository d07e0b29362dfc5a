import { type ChatMessage, type ChatRequest, chatRoles } from '../chat/chat.js';
import { InvalidRequest } from '../shared/errors.js';
import { textIn } from '../workspace/dataset-columns.js';
import { canonical, isObject, type Json, type JsonObject } from '../workspace/json.js';
import { requestFormatOf } from '../workspace/spec-format.js';
import { type Evaluation, SAMPLING } from './evaluation.js';

/**
 * Returns the request for the input of a record. A list of chat messages is sent as this chat, and any other input as
 * one message of a user. The system prompt comes first, unless the chat has its own. Throws InvalidRequest for a chat
 * that an evaluation cannot send.
 */
export function evaluationRequest({ systemPrompt, responseFormat }: Evaluation, input: Json): ChatRequest {
  const chat = isChat(input) ? input.map(messageOf) : [userMessage(input)];
  const prompted = systemPrompt === null || chat.some(({ role }) => role === 'system');
  const messages = prompted ? chat : [{ role: 'system', content: systemPrompt } as const, ...chat];
  return { messages, ...SAMPLING, ...(responseFormat && { responseFormat: requestFormatOf(responseFormat) }) };
}

const userMessage = (input: Json): ChatMessage => ({
  role: 'user',
  content: typeof input === 'string' ? input : canonical(input),
});

interface Message extends JsonObject {
  readonly role: string;
}

/** The roles of messages in files for chats. */
const fileRoles: readonly unknown[] = [...chatRoles, 'developer', 'tool', 'function'];

const isChat = (input: Json): input is readonly Message[] =>
  Array.isArray(input) &&
  input.length > 0 &&
  input.every((one: Json) => isObject(one) && fileRoles.includes(one.role) && 'content' in one);

function messageOf(message: Message, index: number): ChatMessage {
  const role = message.role === 'developer' ? 'system' : chatRoles.find((one) => one === message.role);
  const refused = (problem: string) => new InvalidRequest([{ path: `messages[${index}]`, message: problem }]);
  if (!role) throw refused(`must have one of the roles ${chatRoles.join(', ')} in an evaluation`);
  const content = textIn(message);
  if (typeof content !== 'string') throw refused('must be text in an evaluation');
  return { role, content };
}
