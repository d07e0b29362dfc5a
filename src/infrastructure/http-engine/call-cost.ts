import { type ChatRequest, type ContentPart, mostTokens } from '../../domain/chat/chat.js';
import type { EmbeddingRequest } from '../../domain/chat/embedding.js';
import type { RuntimeTask } from '../../domain/chat/runtime.js';

export interface CallCost {
  readonly task: RuntimeTask;
  /** The estimated tokens of the prompt plus the most tokens of the answer. */
  readonly tokens: number;
}

/** Estimates the tokens of a prompt until the engine has counted them. */
const CHARACTERS_PER_TOKEN = 4;

export function costOf(request: ChatRequest): CallCost {
  const { texts = [], choices = 1 } = request;
  const answers = choices * Math.max(1, texts.length);
  return { task: 'chat', tokens: mostTokens(request) * answers + estimatedTokens(request) };
}

/** The estimate for a picture. Engines count between some 100 and 2,000 tokens, by its size. */
const TOKENS_PER_IMAGE = 1_000;

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

export const costOfTexts = ({ texts }: EmbeddingRequest): CallCost => ({
  task: 'embedding',
  tokens: lengthOf(texts) / CHARACTERS_PER_TOKEN,
});

const lengthOf = (texts: readonly string[]): number => texts.reduce((length, text) => length + text.length, 0);
