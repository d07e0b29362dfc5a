import type { RecordOrigin } from '../workspace/dataset-record.js';
import { isObject, type Json, type JsonObject } from '../workspace/json.js';
import type { KeptCall } from './kept-call.js';

/** The parts of a call that can become the expected value of a record. */
export const expectedParts = ['answer', 'correction', 'none'] as const;
export type ExpectedPart = (typeof expectedParts)[number];

interface Wanted {
  readonly expected: ExpectedPart;
  /** The correction that counts. Undefined: there is none. */
  readonly correction: Json | undefined;
  /** An evaluation puts a system prompt of the project before each input, so the record leaves out that of the call. */
  readonly hasSystemPrompt: boolean;
}

/** A row of a dataset. */
export interface CallRow extends JsonObject {
  readonly id: string;
  readonly input: Json;
  readonly expected: Json;
  readonly origin: RecordOrigin;
}

/** The reason why a call makes no record, and the field of the request that it is about. */
export interface CallProblem {
  readonly field: 'call_id' | 'expected';
  readonly problem: string;
}

/** Returns the row that a call makes, or the reason why it makes none. */
export function rowOfCall(call: KeptCall, wanted: Wanted): CallRow | CallProblem {
  const problem = callProblem(call);
  const input = problem === null ? inputOf(call.request ?? {}, wanted) : null;
  if (problem !== null || input === null) return { field: 'call_id', problem: problem ?? SEVERAL };
  const expected = expectedOf(call, wanted);
  if (expected === undefined) return { field: 'expected', problem: missing[wanted.expected] };
  const { id, modelId, createdAt } = call;
  const origin = { call_id: id, ...(modelId && { model_id: modelId }), at: createdAt.getTime() / 1000 };
  return { id, input, expected, origin };
}

export const isProblem = (made: CallRow | CallProblem): made is CallProblem => 'problem' in made;

const SEVERAL = 'asks with several texts at once: a record has one input';

const missing: Readonly<Record<ExpectedPart, string>> = {
  answer: 'there is no complete answer: choose correction or none',
  correction: 'there is no correction that counts',
  none: '',
};

function callProblem({ kind, content, request, truncated }: KeptCall): string | null {
  if (kind !== 'chat') return 'is no chat: only chats become records';
  if (content === 'unmaskable') return 'is kept without its content, which could not be masked';
  if (request === null) return 'is kept without its content';
  if (truncated) return 'is not kept whole, because its content is too long';
  return hasImage(request) ? 'has images, which are never kept' : null;
}

const messagesOf = ({ messages }: JsonObject): readonly JsonObject[] =>
  Array.isArray(messages) ? messages.filter((one: Json) => isObject(one)) : [];

/** The content of a message with images is a list of its parts. */
const hasImage = (request: JsonObject): boolean => messagesOf(request).some(({ content }) => Array.isArray(content));

/** Returns null for several texts. */
function inputOf(request: JsonObject, { hasSystemPrompt }: Wanted): Json {
  const { texts } = request;
  if (Array.isArray(texts)) return texts.length === 1 ? (texts[0] as Json) : null;
  const all = messagesOf(request);
  const others = hasSystemPrompt ? all.filter(({ role }) => role !== 'system') : all;
  const messages = others.length > 0 ? others : all;
  const [first] = messages;
  return messages.length === 1 && first?.role === 'user' ? (first.content ?? null) : messages;
}

/** Returns undefined if the call does not have the wanted part. */
function expectedOf({ status, answer }: KeptCall, { expected, correction }: Wanted): Json | undefined {
  if (expected === 'none') return null;
  if (expected === 'correction') return correction;
  if (status !== 'succeeded' || answer === null) return undefined;
  const { role = 'assistant', content = '', tool_calls } = answer;
  // As in a file of messages, an answer without text is the whole message.
  return content === '' && tool_calls !== undefined ? { role, content, tool_calls } : content;
}
