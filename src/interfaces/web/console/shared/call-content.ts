import type { components } from './openapi-types.js';
import { isObject } from './spec/fields.js';

type Schemas = components['schemas'];

/** A call that a project keeps. */
export type Call = Schemas['Call'];

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A message of a request, or an answer. */
export interface CallMessage {
  readonly role: string;
  readonly name: string;
  readonly text: string;
  /** The number of its images, which are not kept. */
  readonly images: number;
  readonly reasoning: string;
  readonly refusal: string;
  readonly toolCalls: readonly ToolCall[];
  /** The id of the tool call whose result this message is. */
  readonly toolCallId: string;
  readonly finishReason: string;
}

export interface CallRequest {
  readonly messages: readonly CallMessage[];
  /** The texts of a call for embeddings. */
  readonly texts: readonly string[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly parameters: unknown }[];
  /** The other fields, such as `temperature`, without those that are null. */
  readonly settings: readonly (readonly [name: string, value: unknown])[];
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const objectsIn = (value: unknown) => listIn(value).filter(isObject);

/** Reads the request of a call. A long one may be cut anywhere, so anything may be missing. */
export function requestIn({ request }: Pick<Call, 'request'>): CallRequest {
  const { messages, texts, tools, ...settings } = isObject(request) ? (request as Record<string, unknown>) : {};
  return {
    messages: objectsIn(messages).map(messageOf),
    texts: listIn(texts).map(textIn),
    tools: objectsIn(tools).map(({ name, description, parameters }) => ({
      name: textIn(name),
      description: textIn(description),
      parameters,
    })),
    settings: Object.entries(settings).filter(([, value]) => value !== null),
  };
}

/** Reads the answers of a call: none, one, or as many as the request wanted. */
export function answersIn({ answer }: Pick<Call, 'answer'>): readonly CallMessage[] {
  if (!isObject(answer)) return [];
  return [answer, ...objectsIn((answer as Record<string, unknown>).others)].map(messageOf);
}

function messageOf(message: Readonly<Record<string, unknown>>): CallMessage {
  const parts = objectsIn(message.content);
  return {
    role: textIn(message.role),
    name: textIn(message.name),
    text: Array.isArray(message.content)
      ? parts
          .map(({ text }) => textIn(text))
          .filter(Boolean)
          .join('\n')
      : textIn(message.content),
    images: parts.filter((part) => 'image' in part).length,
    reasoning: textIn(message.reasoning),
    refusal: textIn(message.refusal),
    toolCalls: objectsIn(message.tool_calls).map((call) => ({
      id: textIn(call.id),
      name: textIn(call.name),
      arguments: textIn(call.arguments),
    })),
    toolCallId: textIn(message.tool_call_id),
    finishReason: textIn(message.finish_reason),
  };
}

/** Returns the text that says best what a call asked: the last one of a user, or else the last one. */
export function questionIn(call: Pick<Call, 'request'>): string {
  const { messages, texts } = requestIn(call);
  const last = messages.findLast(({ role, text }) => role === 'user' && text !== '') ?? messages.at(-1);
  return last?.text ?? texts[0] ?? '';
}
