import { type ChatRequest, mostTokens } from '../../domain/chat/chat.js';
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

export const costOfTexts = ({ texts }: EmbeddingRequest): CallCost => ({
  task: 'embedding',
  tokens: lengthOf(texts) / CHARACTERS_PER_TOKEN,
});

const lengthOf = (texts: readonly string[]): number => texts.reduce((length, text) => length + text.length, 0);
