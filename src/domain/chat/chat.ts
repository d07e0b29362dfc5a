import type { Json, JsonObject } from '../workspace/json.js';

export const chatRoles = ['system', 'user', 'assistant'] as const;
/** `tool`: a message with the result of a tool. Only the OpenAI endpoint takes it. */
type ChatRole = (typeof chatRoles)[number] | 'tool';

export interface ChatMessage {
  readonly role: ChatRole;
  readonly content: string;
}

/** A message of a request, with the fields that only an engine elsewhere may understand. */
export interface RequestMessage extends ChatMessage {
  /** These fields are sent to the engine as they are; they replace those above. */
  readonly extra?: JsonObject;
}

export interface ChatRequest {
  /** From 1 to 100 messages. */
  readonly messages: readonly RequestMessage[];
  /** Is null for the smaller of `chatLimits.defaultMaxTokens` and the rest of the context. */
  readonly maxTokens: number | null;
  /** Cuts `maxTokens` to the rest of the context. Otherwise a request that does not fit is refused. */
  readonly cutToContext?: boolean;
  /** From 0 to 2. At 0 the answer is greedy and deterministic. */
  readonly temperature: number;
  /** Only an engine elsewhere calls tools. They are sent to it as they are. */
  readonly tools?: Json;
  readonly toolChoice?: Json;
  readonly sampling?: Sampling;
  /** Absent: any text. */
  readonly responseFormat?: ResponseFormat;
}

/**
 * The answer is JSON that validates, unless it ends by length or at a stop text: an object of any form, or what the
 * JSON schema describes. A model that runs here keeps to the schema whether `strict` or not.
 */
export type ResponseFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly description?: string;
      readonly schema: JsonObject;
      readonly strict?: boolean;
    };

/** The other parameters of sampling, as OpenAI documents them. An absent one has no effect. */
export interface Sampling {
  /** From 0 to 1: the share of the probability that tokens are drawn from. At 0 only the likeliest token is left. */
  readonly topP?: number;
  /** The same seed and request give the same answer. */
  readonly seed?: number;
  /** At most 4 texts, not empty. The answer ends before the first of them. */
  readonly stop?: readonly string[];
  /** From -2 to 2, for each token that the answer has so far. */
  readonly presencePenalty?: number;
  /** From -2 to 2, times the number of a token's occurrences in the answer so far. */
  readonly frequencyPenalty?: number;
  /** From -100 to 100, by token id. */
  readonly logitBias?: Readonly<Record<string, number>>;
  /** From 0 to 20: the number of the likeliest tokens to report at each place. Absent: report no probabilities. */
  readonly topLogprobs?: number;
}

export interface CompletionEnd {
  /**
   * `stop`: the model ended its answer, or came to a stop text. `length`: it ran into `maxTokens` or the context limit.
   * `tool_calls`: an engine elsewhere asks for tools.
   */
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  /** Is null if the runtime does not report it. */
  readonly usage: Usage | null;
  /** The times from the call's turn to its first token and to its end. Only a model that runs here reports them. */
  readonly timing?: { readonly firstTokenMs: number; readonly tookMs: number };
}

/** A part of an answer while it is made. The texts of all parts, joined, are the text of the completion. */
export interface CompletionPart {
  readonly text: string;
  /** The tokens of this text, if the request asks for probabilities. */
  readonly logprobs?: readonly TokenLogprob[];
  /** Parts of tool calls as the engine sent them, in OpenAI's form for streams. */
  readonly toolCalls?: readonly Json[];
  /** Only the last part has an end. */
  readonly end?: CompletionEnd;
}

export interface Completion extends CompletionEnd {
  readonly text: string;
  readonly logprobs?: readonly TokenLogprob[];
  /** In OpenAI's form. */
  readonly toolCalls?: readonly Json[];
}

/** A token with its natural log probability, which is the model's own: before temperature, bias and penalties. */
export interface Logprob {
  readonly token: string;
  /** The UTF-8 bytes of the token, which may be a part of a character. */
  readonly bytes: readonly number[];
  readonly logprob: number;
}

export interface TokenLogprob extends Logprob {
  /** The likeliest tokens at this place, the likeliest first. */
  readonly top: readonly Logprob[];
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
