/** Maps items of the Responses API to the messages of the engine-neutral chat, and back. */
import type { ContentPart, RequestMessage, ToolCall } from '../../../../domain/chat/chat.js';
import { UnsupportedParameter } from '../../../../domain/chat/errors.js';
import { type AnswerItem, Response } from '../../../../domain/chat/response.js';
import { InvalidRequest } from '../../../../domain/shared/errors.js';
import { isObject, type Json, type JsonObject } from '../../../../domain/workspace/json.js';

/** The items of earlier answers by their ids. */
export type KnownItems = ReadonlyMap<string, AnswerItem>;

const roles: Readonly<Record<string, RequestMessage['role']>> = {
  user: 'user',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
};

const refuse = (path: string, message: string) => new InvalidRequest([{ path, message }]);

/** Returns the id of an item of an answer. It contains the id of the response. */
export const itemId = (responseId: string, { kind, index }: Pick<AnswerItem, 'kind' | 'index'>): string =>
  `${prefixes[kind]}_${responseId.slice('resp_'.length)}-${index}`;

const prefixes = { text: 'msg', reasoning: 'rs', call: 'fc' } as const;

const ITEM_ID = /^(?:msg|rs|fc)_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-\d{1,6}$/;

/** Returns the responses to which the references of the input lead. */
export function referredResponses(input: Json | undefined): string[] {
  const ids = Array.isArray(input)
    ? input.flatMap((item) => (isObject(item) && isReference(item) ? [item.id] : []))
    : [];
  const responses = ids.flatMap((id) => (typeof id === 'string' ? (ITEM_ID.exec(id)?.slice(1, 2) ?? []) : []));
  return [...new Set(responses)].map((id) => `resp_${id}`);
}

const isReference = (item: JsonObject): boolean =>
  item.type === 'item_reference' || (item.type === undefined && item.role === undefined);

/** Returns the messages of an input. Throws InvalidRequest, UnsupportedParameter. */
export function messagesOf(input: Json | undefined, known: KnownItems): RequestMessage[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  const messages = new Messages();
  for (const [index, item] of (Array.isArray(input) ? input : []).entries())
    addItem(item as JsonObject, `input.${index}`, messages, known);
  return messages.all;
}

/** Joins what belongs to one message of the assistant: reasoning, a text and calls of tools. */
class Messages {
  readonly all: RequestMessage[] = [];
  private thought = '';
  /** The last message is the assistant's, and calls of tools can join it. */
  private isOpen = false;

  add(message: RequestMessage): void {
    const isAssistant = message.role === 'assistant';
    this.all.push(isAssistant ? { ...message, ...this.takeThought() } : message);
    this.thought = '';
    this.isOpen = isAssistant;
  }

  think(text: string): void {
    this.thought += text;
    this.isOpen = false;
  }

  call(call: ToolCall): void {
    if (!this.isOpen) this.add({ role: 'assistant', content: '', parts: [] });
    const message = this.all.pop() as RequestMessage;
    this.all.push({ ...message, toolCalls: [...(message.toolCalls ?? []), call] });
  }

  private takeThought() {
    return this.thought === '' ? {} : { reasoning: this.thought };
  }
}

function addItem(item: JsonObject, path: string, messages: Messages, known: KnownItems): void {
  const { type = 'message' } = item;
  const text = (field: string): string => {
    const value = item[field];
    if (typeof value === 'string') return value;
    throw refuse(`${path}.${field}`, value === undefined ? 'is required' : 'must be a string');
  };
  if (isReference(item)) addReferred(item, path, messages, known);
  else if (type === 'message') {
    const role = roles[text('role')];
    if (!role) throw refuse(`${path}.role`, `must be one of ${Object.keys(roles).join(', ')}`);
    messages.add({ role, ...contentOf(item.content, `${path}.content`) });
  } else if (type === 'function_call')
    messages.call({ id: text('call_id'), name: text('name'), arguments: text('arguments') });
  else if (type === 'function_call_output')
    messages.add({ role: 'tool', toolCallId: text('call_id'), ...contentOf(item.output, `${path}.output`) });
  else if (type === 'reasoning') messages.think(thoughtOf(item.content) || thoughtOf(item.summary));
  else throw new UnsupportedParameter(`${path}.type`, `must be one of ${itemTypes.join(', ')}`);
}

const itemTypes = ['message', 'function_call', 'function_call_output', 'reasoning', 'item_reference'];

function addReferred({ id }: JsonObject, path: string, messages: Messages, known: KnownItems): void {
  const item = typeof id === 'string' ? known.get(id) : undefined;
  if (!item) throw refuse(`${path}.id`, 'must be the id of an item of a stored answer of your own');
  if (item.kind === 'reasoning') messages.think(item.text);
  else if (item.kind === 'call') messages.call({ id: item.id, name: item.name, arguments: item.arguments });
  else for (const message of Response.messageOf([item])) messages.add(message);
}

const thoughtOf = (parts: Json | undefined): string =>
  Array.isArray(parts)
    ? parts.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
    : '';

const DEFAULT_DETAIL = 'auto';

const TEXTS = ['input_text', 'output_text', 'text'];

/** Joins the texts. The parts are there only if one of them is not text. An empty array is an empty text. */
function contentOf(content: Json | undefined, path: string): Pick<RequestMessage, 'content' | 'parts' | 'refusal'> {
  if (typeof content === 'string') return { content };
  if (!Array.isArray(content))
    throw refuse(path, content === undefined ? 'is required' : 'must be a text or an array of parts');
  const refusals: string[] = [];
  const parts = content.flatMap((part: Json, index: number): ContentPart[] => {
    const at = `${path}.${index}`;
    if (!isObject(part)) throw refuse(at, 'must be an object');
    const { type, text, refusal, image_url: url, detail } = part;
    if (typeof type === 'string' && TEXTS.includes(type)) {
      if (typeof text !== 'string') throw refuse(`${at}.text`, 'must be a string');
      return [{ text }];
    }
    if (type === 'refusal' && typeof refusal === 'string') {
      refusals.push(refusal);
      return [];
    }
    if (type !== 'input_image')
      throw new UnsupportedParameter(`${at}.type`, 'must be a text, a refusal or input_image');
    if (typeof url !== 'string') throw new UnsupportedParameter(`${at}.image_url`, 'must be the URL of the image');
    if (detail === undefined || detail === null || detail === DEFAULT_DETAIL) return [{ imageUrl: url }];
    if (typeof detail !== 'string') throw refuse(`${at}.detail`, 'must be a string');
    return [{ imageUrl: url, detail }];
  });
  const texts = parts.flatMap((part) => ('text' in part ? [part.text] : []));
  return {
    content: texts.join(''),
    ...((texts.length < parts.length || (parts.length === 0 && refusals.length > 0)) && { parts }),
    ...(refusals.length > 0 && { refusal: refusals.join('') }),
  };
}

/** Returns the items of the messages of a request, oldest first. */
export function inputItems({ id, messages }: Pick<Response, 'id' | 'messages'>): { readonly id: string }[] {
  const uuid = id.slice('resp_'.length);
  return messages.flatMap((message, index) =>
    itemsOf(message).map((item, nth) => ({ id: `in_${uuid}-${index}-${nth}`, ...item })),
  );
}

function itemsOf({ role, content, parts, toolCalls = [], toolCallId, reasoning, refusal }: RequestMessage): object[] {
  if (role === 'tool')
    return [{ type: 'function_call_output', call_id: toolCallId, output: content, status: 'completed' }];
  const inAnswer = { type: 'output_text', annotations: [] };
  const textOf = (text: string) => (role === 'assistant' ? { ...inAnswer, text } : { type: 'input_text', text });
  const partOf = (part: ContentPart) =>
    'text' in part
      ? textOf(part.text)
      : { type: 'input_image', image_url: part.imageUrl, detail: part.detail ?? DEFAULT_DETAIL };
  const said = [
    ...(parts ? parts.map(partOf) : [textOf(content)]),
    ...(refusal === undefined ? [] : [{ type: 'refusal', refusal }]),
  ];
  const calls = toolCalls.map((call) => ({
    ...{ type: 'function_call', call_id: call.id, name: call.name, arguments: call.arguments, status: 'completed' },
  }));
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: reasoning }] }]),
    ...(said.length === 0 && calls.length > 0 ? [] : [{ type: 'message', role, status: 'completed', content: said }]),
    ...calls,
  ];
}
