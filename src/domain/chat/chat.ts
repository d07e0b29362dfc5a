export const chatRoles = ['system', 'user', 'assistant'] as const;
export type ChatRole = (typeof chatRoles)[number];

export interface ChatMessage {
  readonly role: ChatRole;
  readonly content: string;
}

export interface ChatRequest {
  /** From 1 to 100 messages. The last one is the user's. */
  readonly messages: readonly ChatMessage[];
  /** Is null for the smaller of `chatLimits.defaultMaxTokens` and the rest of the context. */
  readonly maxTokens: number | null;
  /** From 0 to 2. At 0 the answer is greedy and deterministic. */
  readonly temperature: number;
}

export interface Completion {
  readonly text: string;
  /** `stop`: the model ended its answer. `length`: it ran into `maxTokens` or the context limit. */
  readonly finishReason: 'stop' | 'length';
  /** Is null if the runtime does not report it. */
  readonly usage: Usage | null;
}

/** A completion, with the seconds from the moment when the model took the call. */
export interface TimedCompletion {
  readonly completion: Completion;
  readonly latency: number;
}

export interface Usage {
  readonly promptTokens: number;
  /** The tokens of the prompt that the runtime had in its prefix cache. */
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

/** Returns the tokens that the request allows the answer. The context may allow fewer. */
export const mostTokens = ({ maxTokens }: ChatRequest): number => maxTokens ?? chatLimits.defaultMaxTokens;
