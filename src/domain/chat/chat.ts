export const chatRoles = ['system', 'user', 'assistant'] as const;
export type ChatRole = (typeof chatRoles)[number];

export interface ChatMessage {
  readonly role: ChatRole;
  readonly content: string;
}

export interface ChatRequest {
  /** 1 to 100, the last one of the user. */
  readonly messages: readonly ChatMessage[];
  /** Null: the smaller of `chatLimits.defaultMaxTokens` and what the context has left. */
  readonly maxTokens: number | null;
  /** 0 to 2; 0 is greedy and deterministic. */
  readonly temperature: number;
}

export interface Completion {
  readonly text: string;
  /** `stop`: the model ended its answer. `length`: it ran into `maxTokens` or the context limit. */
  readonly finishReason: 'stop' | 'length';
  /** Null where the runtime does not report it. */
  readonly usage: Usage | null;
}

/** With the seconds from the moment at which the model took the call up. */
export interface TimedCompletion {
  readonly completion: Completion;
  readonly latency: number;
}

export interface Usage {
  readonly promptTokens: number;
  /** Those of the prompt that the runtime still knew from an earlier call. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** Lengths are Unicode code points. */
export const chatLimits = {
  messages: 100,
  messageLength: 16_000,
  combinedLength: 64_000,
  maxTokens: 4_096,
  defaultMaxTokens: 512,
  temperature: 2,
} as const;

/** How many tokens an answer to the request may have, as far as it is for the request to say. */
export const mostTokens = ({ maxTokens }: ChatRequest): number => maxTokens ?? chatLimits.defaultMaxTokens;
