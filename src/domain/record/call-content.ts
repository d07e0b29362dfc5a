import type { Answer, ChatRequest, ContentPart, RequestMessage, Tool } from '../chat/chat.js';
import { utf8Bytes } from '../shared/text.js';
import { isObject, type Json, type JsonObject } from '../workspace/json.js';
import { isPartOfJson, withoutOpenEnd } from './open-end.js';

/** The content of a call in the neutral form of Tenon, as JSON with the names of the API. */
export interface CallContent {
  readonly request: JsonObject;
  /** The answers of the call, as `answerJson` returns them. Null: it has none. */
  readonly answer: JsonObject | null;
  /** True: texts that are too long, or the open end of the answer, were left out. */
  readonly isCut?: boolean;
}

/** An answer, or the part of it that was made before the call ended. */
export interface RecordedAnswer extends Pick<Answer, 'text' | 'toolCalls' | 'reasoning'> {
  readonly finishReason: Answer['finishReason'] | null;
}

/** Stands for an image. Images are never kept, because no masker can read them. */
const IMAGE = { image: 'not kept' } as const;

/** Returns a request without its images. */
export function requestJson(request: ChatRequest): JsonObject {
  const { messages, texts, choices, maxTokens, temperature, tools, toolChoice, parallelToolCalls } = request;
  const { reasoningEffort, responseFormat, sampling = {} } = request;
  const wanted = typeof toolChoice === 'object' ? { tool: toolChoice.tool } : toolChoice;
  const format = responseFormat && { ...responseFormat, place: undefined };
  return present({
    ...{ max_tokens: maxTokens, temperature, choices, reasoning_effort: reasoningEffort },
    ...Object.fromEntries(Object.entries(sampling).map(([name, value]) => [snakeCase(name), value])),
    ...{ parallel_tool_calls: parallelToolCalls, tool_choice: wanted },
    messages: texts ? undefined : messages.map(messageJson),
    texts,
    tools: tools?.map(toolJson),
    response_format: format && present(format),
  });
}

/** Returns the first answer, with the others in `others`. Returns null if there is none. */
export function answerJson([first, ...others]: readonly RecordedAnswer[]): JsonObject | null {
  if (!first) return null;
  return { ...oneAnswer(first), ...(others.length > 0 && { others: others.map(oneAnswer) }) };
}

const oneAnswer = ({ text, toolCalls = [], reasoning, finishReason }: RecordedAnswer): JsonObject =>
  present({
    ...{ role: 'assistant', finish_reason: finishReason, content: text, reasoning: reasoning || undefined },
    tool_calls: toolCalls.length > 0 ? toolCalls.map(toolCallJson) : undefined,
  });

function messageJson({ role, content, parts, name, toolCalls, toolCallId, refusal, reasoning }: RequestMessage) {
  return present({
    ...{ role, name, content: parts?.some(isImage) ? joined(parts).map(partJson) : content },
    ...{ reasoning, tool_calls: toolCalls?.map(toolCallJson), tool_call_id: toolCallId, refusal },
  });
}

const toolCallJson = ({ id, name, arguments: text }: { id: string; name: string; arguments: string }) => ({
  ...{ id, name, arguments: text },
});

const toolJson = ({ name, description, parameters, strict }: Tool): JsonObject =>
  present({ name, description, parameters, strict });

const isImage = (part: ContentPart): boolean => 'imageUrl' in part;
const partJson = (part: ContentPart): JsonObject => ('imageUrl' in part ? IMAGE : { text: part.text });

/** Joins texts that follow each other, because a masker finds nothing that goes on in the next text. */
function joined(parts: readonly ContentPart[]): readonly ContentPart[] {
  const result: ContentPart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (last && 'text' in last && 'text' in part) result[result.length - 1] = { text: last.text + part.text };
    else result.push(part);
  }
  return result;
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Leaves out what is absent. */
const present = (fields: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;

export interface Cut<Value> {
  readonly value: Value;
  readonly isCut: boolean;
}

/** Keeps the beginning of a value, of which all texts together have at most `most` characters, so that it can be masked. */
export function maskablePart<Value extends Json>(value: Value, most: number): Cut<Value> {
  return limited(value, most, { sizeOf: (text) => text.length, begin: maskableBeginning });
}

/** Leaves out a JSON text that is cut: its parts can be masked only as a whole. */
const maskableBeginning = (text: string, most: number): string => {
  const kept = text.slice(0, most);
  return isPartOfJson(kept) ? '' : withoutOpenEnd(kept);
};

/** Returns a value as JSON, of which only the beginning is kept if it has more than about `most` bytes in UTF-8. */
export function cutJson(value: Json, most: number): { readonly text: string; readonly isCut: boolean } {
  const text = JSON.stringify(value);
  if (text.length * MOST_UTF8 <= most || utf8Bytes(text) <= most) return { text, isCut: false };
  const cut = limited(value, most, { sizeOf: (one) => jsonPrefix(one, Number.POSITIVE_INFINITY).bytes, begin });
  return { text: JSON.stringify(cut.value), isCut: cut.isCut };
}

/** The most bytes in UTF-8 of a unit of a string. */
const MOST_UTF8 = 3;

interface Measure {
  readonly sizeOf: (text: string) => number;
  /** Returns the beginning of a text that has at most this size. */
  readonly begin: (text: string, most: number) => string;
}

function limited<Value extends Json>(value: Value, most: number, { sizeOf, begin: first }: Measure): Cut<Value> {
  let [left, isCut] = [most, false];
  const text = (whole: string): string => {
    const size = sizeOf(whole);
    if (size <= left) {
      left -= size;
      return whole;
    }
    isCut = true;
    const beginning = first(whole, left);
    left -= sizeOf(beginning);
    return beginning;
  };
  const visit = (one: Json): Json => {
    if (typeof one === 'string') return text(one);
    if (Array.isArray(one)) {
      const kept: Json[] = [];
      for (const item of one) {
        if (left <= 0) {
          isCut = true;
          break;
        }
        left -= 1;
        kept.push(visit(item));
      }
      return kept;
    }
    if (!isObject(one)) return one;
    const members: [string, Json][] = [];
    for (const [name, member] of Object.entries(one)) {
      left -= sizeOf(name);
      if (left <= 0) {
        isCut = true;
        break;
      }
      members.push([name, visit(member)]);
    }
    return Object.fromEntries(members);
  };
  return { value: visit(value) as Value, isCut };
}

const begin = (text: string, most: number): string => text.slice(0, jsonPrefix(text, most).length).toWellFormed();

/** Measures the longest beginning of a text that has at most `most` bytes as JSON, quotes included. */
function jsonPrefix(text: string, most: number): { readonly length: number; readonly bytes: number } {
  let [at, bytes] = [0, 2];
  for (const character of text) {
    const size = jsonBytes(character);
    if (bytes + size > most) break;
    at += character.length;
    bytes += size;
  }
  return { length: at, bytes };
}

function jsonBytes(character: string): number {
  const code = character.codePointAt(0) as number;
  if (code < 0x20 || (code >= 0xd800 && code < 0xe000)) return 6; // at most: some controls have short escapes
  if (character === '"' || character === '\\') return 2;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x1_0000 ? 3 : 4;
}

/** The most characters of one side that a search finds. The words of more could be too many for PostgreSQL. */
const SEARCHED = 64_000;
/** Their texts are the content. The other members are names, ids and settings. */
const SEARCHED_FIELDS = new Set(['content', 'text', 'texts', 'arguments', 'reasoning', 'refusal']);

/** Returns the first texts of both sides, for a search. */
export const searchText = (request: Json, answer: Json): string =>
  [request, answer].map((side) => textsOf(side, SEARCHED)).join('\n');

function textsOf(value: Json, most: number): string {
  const texts: string[] = [];
  let left = most;
  const visit = (one: Json, isSearched: boolean): void => {
    if (left <= 0) return;
    if (typeof one === 'string' && isSearched) {
      texts.push(one.slice(0, left));
      left -= one.length + 1;
    } else if (Array.isArray(one)) for (const item of one) visit(item, isSearched);
    else if (isObject(one)) for (const [name, member] of Object.entries(one)) visit(member, SEARCHED_FIELDS.has(name));
  };
  visit(value, false);
  return texts.join('\n');
}
