import type { ChatRequest } from '../../domain/chat/chat.js';
import type { EmbeddingRequest } from '../../domain/chat/embedding.js';
import type { RuntimeTask } from '../../domain/chat/runtime.js';
import { estimatedTextTokens, estimatedTokens, mostAnswerTokens } from '../../domain/chat/token-estimate.js';

export interface CallCost {
  readonly task: RuntimeTask;
  /** The estimated tokens of the prompt plus the most tokens of the answer. */
  readonly tokens: number;
}

export function costOf(request: ChatRequest): CallCost {
  return { task: 'chat', tokens: mostAnswerTokens(request) + estimatedTokens(request) };
}

export const costOfTexts = ({ texts }: EmbeddingRequest): CallCost => ({
  task: 'embedding',
  tokens: estimatedTextTokens(texts),
});
