import { type ChatRequest, type CompletionPart, type ContentPart, chatLimits, mostTokens } from './chat.js';

const CHARACTERS_PER_TOKEN = 4;

/** The estimate for a picture. Engines count between some 100 and 2,000 tokens, by its size. */
const TOKENS_PER_IMAGE = 1_000;

const lengthOf = (texts: readonly string[]): number => texts.reduce((length, text) => length + text.length, 0);

/** Estimates the tokens of texts until an engine has counted them. The result can be a fraction. */
export const estimatedTextTokens = (texts: readonly string[]): number => lengthOf(texts) / CHARACTERS_PER_TOKEN;

/** Estimates the tokens of a prompt with its tools and pictures. */
export function estimatedTokens({ messages, texts = [], tools = [], responseFormat }: ChatRequest): number {
  const isImage = (part: ContentPart) => 'imageUrl' in part;
  const images = messages.flatMap(({ parts = [] }) => parts.filter(isImage)).length;
  const own = messages.flatMap(({ content, reasoning = '', refusal = '', name = '', toolCalls = [] }) => [
    ...[content, reasoning, refusal, name],
    ...toolCalls.flatMap((call) => [call.name, call.arguments]),
  ]);
  const others = [...tools, ...(responseFormat ? [responseFormat] : [])].reduce((sum, one) => sum + jsonLength(one), 0);
  const length = lengthOf([...texts, ...own]) + others;
  return Math.max(1, Math.ceil(length / CHARACTERS_PER_TOKEN) + images * TOKENS_PER_IMAGE);
}

/** Returns the length of the JSON without escapes. Does not write the JSON, because it can be long. */
function jsonLength(json: unknown): number {
  if (typeof json === 'string') return json.length + 2;
  if (typeof json !== 'object' || json === null) return String(json).length;
  const entries = Object.entries(json);
  const lengths = entries.map(([name, value]) => (Array.isArray(json) ? 0 : name.length + 3) + jsonLength(value));
  return lengths.reduce((sum, length) => sum + length, 1 + Math.max(1, entries.length));
}

/** The most tokens that a chat template adds to a message, a tool or the whole prompt. */
const MOST_ADDED = 64;
/** The most tokens of a picture that an engine is expected to count. */
const MOST_PER_IMAGE = 16_384;

const encoder = new TextEncoder();
const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value) ?? '').length;

/** Returns a number that the tokens of the prompt do not exceed, because a token has at least one byte. */
export function mostPromptTokens(request: ChatRequest): number {
  const { messages, texts = [], tools = [], responseFormat = null, templateFields = null, verbatim } = request;
  const parts = messages.length + texts.length + tools.length + 1;
  const media = verbatim
    ? mediaIn(verbatim.json.messages)
    : messages.flatMap(({ parts: own = [] }) => own.filter(isImage));
  const content = verbatim?.json ?? { messages, texts, tools, responseFormat, templateFields };
  return bytesOf(content) + MOST_ADDED * parts + MOST_PER_IMAGE * media.length;
}

const isImage = (part: ContentPart): boolean => 'imageUrl' in part;

/** Returns the parts of verbatim messages that are no text: pictures, and what only some engines know. */
const mediaIn = (messages: unknown): unknown[] =>
  [messages ?? []].flat().flatMap((message) => {
    const content = (message as { readonly content?: unknown } | null)?.content;
    return Array.isArray(content) ? content.filter((part) => part?.type !== 'text') : [];
  });

/** Returns a number that the tokens of the texts do not exceed. Each text gets at most `MOST_ADDED` tokens around it. */
export const mostTextTokens = (texts: readonly string[]): number => bytesOf(texts) + MOST_ADDED * texts.length;

/** Returns the number of answers that the request asks for. */
export const answersOf = ({ texts = [], choices = 1 }: ChatRequest): number => choices * Math.max(1, texts.length);

/** No request makes more tokens. */
export const MOST_TOKENS = 1_000_000_000;

/**
 * Returns the most tokens of all answers together, a whole number from 1 to `MOST_TOKENS`. An engine elsewhere may get
 * any number as the bound: then the default counts instead of numbers below 1.
 */
export function mostAnswerTokens(request: ChatRequest): number {
  const sent = Math.ceil(mostTokens(request));
  const most = sent >= 1 ? sent : chatLimits.defaultMaxTokens;
  return Math.min(MOST_TOKENS, most * answersOf(request));
}

/** Returns whether the part has content: text, thoughts or a tool call. */
export const hasContent = ({ text, reasoning, toolCalls }: CompletionPart): boolean =>
  text !== '' || Boolean(reasoning) || Boolean(toolCalls?.length);
