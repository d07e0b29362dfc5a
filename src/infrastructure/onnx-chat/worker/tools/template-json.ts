/** Translates messages and tools into the JSON that chat templates read: OpenAI's, but with arguments as objects. */
import { createHash } from 'node:crypto';
import type { ChatRequest, RequestMessage, Tool, ToolCall } from '../../../../domain/chat/chat.js';
import { jsonNesting } from '../../../../domain/shared/text.js';
import { isObject, type Json, type JsonObject } from '../../../../domain/workspace/json.js';
import { messageJson } from '../../../openai/openai-request.js';
import { RefusedMessages } from '../chat-template.js';

/** Limits the arguments of an earlier call as a request body is limited: they are JSON within its JSON. */
const MOST_LEVELS = 64;
const MOST_VALUES = 200_000;

/** Returns the tools that the model may call. */
export const usedTools = ({ tools = [], toolChoice }: Pick<ChatRequest, 'tools' | 'toolChoice'>): readonly Tool[] =>
  toolChoice === 'none' ? [] : tools;

/** Some templates join the description with other text, and read the properties. */
export const templateTool = ({ name, description = '', parameters }: Tool): JsonObject => ({
  type: 'function',
  function: { name, description, parameters: parameters ?? { type: 'object', properties: {} } },
});

/** Throws RefusedMessages for an earlier call whose arguments are no JSON object. */
export function templateMessages(messages: readonly RequestMessage[], hasShortIds: boolean): object[] {
  const idOf = (id: string) => (hasShortIds ? shortId(id) : id);
  const names = new Map<string, string>();
  return messages.map((message, i) => {
    const { toolCalls, toolCallId } = message;
    for (const { id, name } of toolCalls ?? []) names.set(id, name);
    const called = toolCallId === undefined ? undefined : names.get(toolCallId);
    return {
      ...(called !== undefined && { name: called }),
      ...messageJson(message),
      content: message.content,
      ...(toolCalls && {
        tool_calls: toolCalls.map((call, j) => callJson(call, idOf(call.id), `messages.${i}.tool_calls.${j}`)),
      }),
      ...(toolCallId !== undefined && { tool_call_id: idOf(toolCallId) }),
    };
  });
}

function callJson({ name, arguments: text }: ToolCall, id: string, path: string): object {
  return { id, type: 'function', function: { name, arguments: argumentsOf(text, `${path}.function.arguments`) } };
}

function argumentsOf(text: string, path: string): JsonObject {
  const { depth, values } = jsonNesting(text, MOST_LEVELS, MOST_VALUES);
  if (depth > MOST_LEVELS) throw new RefusedMessages(`must not be nested deeper than ${MOST_LEVELS} levels`, path);
  if (values > MOST_VALUES) throw new RefusedMessages(`must not have more than ${MOST_VALUES} values`, path);
  try {
    const json: Json = JSON.parse(text.trim() || '{}');
    if (isObject(json)) return json;
  } catch {}
  throw new RefusedMessages('must be a JSON object, as text', path);
}

const shortId = (id: string): string =>
  /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9);

const textsOf = ({
  content,
  reasoning = '',
  refusal = '',
  name = '',
  toolCallId = '',
  toolCalls = [],
}: RequestMessage) => [
  ...[content, reasoning, refusal, name, toolCallId],
  ...toolCalls.flatMap((call) => [call.id, call.name, call.arguments]),
];

/** Returns the length of the longest text in a message. `cutMessage` cuts it. */
export const longestText = (message: RequestMessage): number =>
  textsOf(message).reduce((most, text) => Math.max(most, text.length), 0);

/** Returns tools whose descriptions have at most `most` characters together. */
export function cutTools(tools: readonly Tool[], most: number): Tool[] {
  let left = most;
  return tools.map(({ description, ...tool }) => {
    if (description === undefined) return tool;
    const cut = description.slice(0, left);
    left -= cut.length;
    return { ...tool, description: cut };
  });
}

/** Returns a message whose texts have at most `most` characters. Arguments stay a JSON object. */
export function cutMessage(message: RequestMessage, most: number): RequestMessage {
  const { content, reasoning, refusal, name, toolCallId, toolCalls } = message;
  const cut = (text: string) => text.slice(0, most);
  const json = (text: string) => (text.length > most ? JSON.stringify({ cut: cut(text) }) : text);
  return {
    ...message,
    content: cut(content),
    ...(reasoning !== undefined && { reasoning: cut(reasoning) }),
    ...(refusal !== undefined && { refusal: cut(refusal) }),
    ...(name !== undefined && { name: cut(name) }),
    ...(toolCallId !== undefined && { toolCallId: cut(toolCallId) }),
    ...(toolCalls && {
      toolCalls: toolCalls.map((call) => ({
        id: cut(call.id),
        name: cut(call.name),
        arguments: json(call.arguments),
      })),
    }),
  };
}
