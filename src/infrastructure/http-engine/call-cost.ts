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

export const costOf = (request: ChatRequest): CallCost => ({
  task: 'chat',
  tokens: mostTokens(request) + lengthOf(request.messages.map(({ content }) => content)) / CHARACTERS_PER_TOKEN,
});

/** The estimate for a picture. Engines count between some 100 and 2,000 tokens, by its size. */
const TOKENS_PER_IMAGE = 1_000;

/** Estimates the tokens of a prompt with its tools and pictures. */
export function estimatedTokens({ messages, tools = [], responseFormat }: ChatRequest): number {
  const isImage = (part: ContentPart) => 'imageUrl' in part;
  const images = messages.flatMap(({ parts = [] }) => parts.filter(isImage)).length;
  const own = messages.flatMap(({ content, reasoning = '', toolCalls = [] }) => [
    content,
    reasoning,
    ...toolCalls.flatMap((call) => [call.name, call.arguments]),
  ]);
  const others = [...tools, ...(responseFormat ? [responseFormat] : [])].map((one) => JSON.stringify(one));
  return Math.max(1, Math.ceil(lengthOf([...own, ...others]) / CHARACTERS_PER_TOKEN) + images * TOKENS_PER_IMAGE);
}

export const costOfTexts = ({ texts }: EmbeddingRequest): CallCost => ({
  task: 'embedding',
  tokens: lengthOf(texts) / CHARACTERS_PER_TOKEN,
});

const lengthOf = (texts: readonly string[]): number => texts.reduce((length, text) => length + text.length, 0);
