import type { JsonObject } from '../workspace/json.js';

export const chatRoles = ['system', 'user', 'assistant'] as const;
/** `tool`: a message with the result of a tool. */
type ChatRole = (typeof chatRoles)[number] | 'tool';

export interface ChatMessage {
  readonly role: ChatRole;
  readonly content: string;
}

export type ContentPart = { readonly text: string } | ImagePart;

interface ImagePart {
  readonly imageUrl: string;
  /** The detail that the model sees, such as `low`. Absent: the engine decides. */
  readonly detail?: string;
}

/** A message of a request. `content` has only the text of the message. */
export interface RequestMessage extends ChatMessage {
  /** The whole content, if it is not one text. If empty, the message has no content, but `toolCalls` or a `refusal`. */
  readonly parts?: readonly ContentPart[];
  /** The name of the author. */
  readonly name?: string;
  /** The tools that the assistant called in this message. */
  readonly toolCalls?: readonly ToolCall[];
  /** The id of the call with this result. Only a message with the role `tool` has it. */
  readonly toolCallId?: string;
  /** The reason why the assistant did not answer. */
  readonly refusal?: string;
  /** The thoughts of the assistant before this message. */
  readonly reasoning?: string;
}

export interface ChatRequest {
  /** At least one message, unless there are `texts`. If the last one is the assistant's, the answer continues it. */
  readonly messages: readonly RequestMessage[];
  /** The model continues each of these texts, without a chat template and in place of the messages. */
  readonly texts?: readonly string[];
  /** The number of answers to the messages, or to each text, from 1 to `chatLimits.choices`. Default: 1. */
  readonly choices?: number;
  /**
   * If null, the maximum is `chatLimits.defaultMaxTokens`, or the rest of the context if that is smaller. With
   * `cutToContext`, an engine elsewhere decides.
   */
  readonly maxTokens: number | null;
  /** If true, `maxTokens` is reduced to the rest of the context. Otherwise a request that does not fit is refused. */
  readonly cutToContext?: boolean;
  /**
   * If true, the oldest turns are left out of a prompt that does not fit the context. System messages and the last turn
   * stay. An engine elsewhere cuts nothing.
   */
  readonly leaveOutOldest?: boolean;
  /** From 0 to 2. At 0 the answer is greedy and deterministic. Null: an engine elsewhere decides, a chat worker takes 0. */
  readonly temperature: number | null;
  /** The tools that the model may call. */
  readonly tools?: readonly Tool[];
  /** The default is `auto`. */
  readonly toolChoice?: ToolChoice;
  /** If false, the model calls at most one tool. */
  readonly parallelToolCalls?: boolean;
  /** The effort of thinking before the answer, such as `low`. Only chat templates that know it get it. */
  readonly reasoningEffort?: string;
  readonly sampling?: Sampling;
  /** If absent, the answer may be any text. */
  readonly responseFormat?: ResponseFormat;
  /** Further variables of the chat template. */
  readonly templateFields?: JsonObject;
  /** Fields that only some engines elsewhere know, by their names in OpenAI's API. Others ignore them. */
  readonly passedOn?: JsonObject;
  /** Fields that nobody documents. An engine elsewhere gets them. Other engines throw UnknownParameter. */
  readonly unknown?: JsonObject;
  readonly verbatim?: VerbatimRequest;
}

/** A request as its caller wrote it. An engine with the same dialect gets it instead of the other fields. */
export interface VerbatimRequest {
  /** The API that the JSON is for. */
  readonly dialect: string;
  readonly json: JsonObject;
  /** If false, the events of a stream leave out the usage. */
  readonly wantsUsage: boolean;
  /** The bound of a budget for each answer. The engine gets it instead of the caller's. */
  readonly mostTokens?: number;
  /** Throws the first reason why the other fields of the request are not all that the caller asked for. */
  readonly requireUnderstood: () => void;
}

export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** A JSON schema of the arguments. */
  readonly parameters?: JsonObject;
  /** If true, the arguments must validate against the schema. A chat worker always follows the schema. */
  readonly strict?: boolean;
  /** The place of `parameters` in the caller's request, for refusals. The default is the place in OpenAI's chat API. */
  readonly place?: string;
}

export const toolLimits = {
  tools: 128,
  name: /^[a-zA-Z0-9_-]{1,64}$/,
  /** The length of all schemas together as JSON, in characters. */
  schemasLength: 100_000,
} as const;

/** `auto`: the model may call tools. `required`: it must call a tool. An object names the tool that it must call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };

export interface ToolCall {
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** JSON, as the model wrote it. It may be invalid. */
  readonly arguments: string;
}

/** A part of a tool call in a stream. The joined arguments of all parts with the same index are those of the call. */
export interface ToolCallPart extends Partial<Pick<ToolCall, 'id' | 'name'>>, Pick<ToolCall, 'arguments'> {
  readonly index: number;
}

/**
 * `object`: the answer is any JSON object. `schema`: the answer is JSON that validates against the schema. An answer
 * that ends by length or at a stop text can be incomplete. A chat worker ignores `strict` and always follows the
 * schema. If the request also has tools, the answer has either this format or tool calls.
 */
export type ResponseFormat =
  | { readonly json: 'object' }
  | {
      readonly json: 'schema';
      readonly name: string;
      readonly description?: string;
      readonly schema: JsonObject;
      readonly strict?: boolean;
      /** The place of the schema in the caller's request, for refusals. The default is the place in OpenAI's chat API. */
      readonly place?: string;
    };

/** The other parameters of sampling. An absent parameter has no effect. */
export interface Sampling {
  /** From 0 to 1. Only the likeliest tokens up to this sum of probabilities are drawn. At 0 only one token is left. */
  readonly topP?: number;
  /** At least 1. Only this many of the likeliest tokens are drawn. */
  readonly topK?: number;
  /** From 0 to 1. A token is drawn only if its probability is at least this share of the likeliest token's. */
  readonly minP?: number;
  /** From 0.01 to 10. Divides the positive logits of tokens that the prompt or the answer has, and multiplies the others. */
  readonly repetitionPenalty?: number;
  /** The same seed and request give the same answer. */
  readonly seed?: number;
  /** At most 16 texts, none of them empty. The answer ends before the first stop text. Tool calls may contain them. */
  readonly stop?: readonly string[];
  /** From -2 to 2. Is subtracted from the logit of each token that the answer already has. */
  readonly presencePenalty?: number;
  /** From -2 to 2. Is subtracted from the logit of a token once for each time that the answer already has the token. */
  readonly frequencyPenalty?: number;
  /** A value from -100 to 100 for each token id. Is added to the logit of the token. */
  readonly logitBias?: Readonly<Record<string, number>>;
  /** From 0 to 20: how many likeliest tokens are reported at each place. If absent, no probabilities are reported. */
  readonly topLogprobs?: number;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'other';

/** The reason why an answer ended. */
export interface AnswerEnd {
  /**
   * `stop`: the model ended its answer, or the answer reached a stop text. `length`: the answer reached `maxTokens` or
   * the end of the context. `tool_calls`: the model calls tools. `other`: the engine ended it for a
   * reason of its own.
   */
  readonly finishReason: FinishReason;
  /** The stop text that the answer reached. Absent if it reached none, or if the engine does not tell. */
  readonly stopText?: string;
}

export interface CompletionEnd extends AnswerEnd {
  /** The tokens, or null if the runtime does not report them. */
  readonly usage: Usage | null;
  /** The times from the start of the generation to the first token and to the end. Only chat workers report them. */
  readonly timing?: { readonly firstTokenMs: number; readonly tookMs: number };
}

/** A part of an answer during its generation. The joined texts of all parts are the text of the completion. */
export interface CompletionPart {
  readonly text: string;
  /** The tokens of this text, if the request asks for probabilities. */
  readonly logprobs?: readonly TokenLogprob[];
  readonly toolCalls?: readonly ToolCallPart[];
  /** The thoughts of the model. They are no part of the text. */
  readonly reasoning?: string;
  /** The JSON of the engine's event without its `model`, if the engine got the request verbatim. */
  readonly verbatim?: string;
  /** The number of the answer that the part belongs to, if the request asks for several. Default: 0. */
  readonly choice?: number;
  /** The part is the last one of its answer, and the request asks for several answers. */
  readonly ended?: AnswerEnd;
  /** Only the last part has an end. */
  readonly end?: CompletionEnd;
}

/** One of several answers. */
export interface Answer extends AnswerEnd {
  readonly text: string;
  /** The tokens of the text, if the request asks for probabilities. They can take many times the memory of the text. */
  readonly logprobs?: Iterable<TokenLogprob>;
  readonly toolCalls?: readonly ToolCall[];
  /** The thoughts of the model before the text. */
  readonly reasoning?: string;
}

export interface Completion extends Answer, CompletionEnd {
  /** The further answers, if the request asks for several. `usage` counts each prompt once, and all answers. */
  readonly others?: readonly Answer[];
  /** The JSON of the engine's answer without its `model`, if the engine got the request verbatim. */
  readonly verbatim?: string;
}

/** A token with the natural logarithm of its probability before temperature, bias and penalties. */
export interface Logprob {
  readonly token: string;
  /** The UTF-8 bytes of the token. They can be only a part of a character. */
  readonly bytes: readonly number[];
  readonly logprob: number;
}

export interface TokenLogprob extends Logprob {
  /** The likeliest tokens at this place, the likeliest first. */
  readonly top: readonly Logprob[];
}

export interface TimedCompletion {
  readonly completion: Completion;
  /** Seconds from the moment when the model began with the call to the end of the answer. */
  readonly latency: number;
}

export interface Usage {
  readonly promptTokens: number;
  /** The tokens of the prompt that the runtime had in its prefix cache. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** The tokens of the completion that are no part of the text. Absent if the runtime does not report them. */
  readonly reasoningTokens?: number;
}

/** Lengths are Unicode code points. */
export const chatLimits = {
  messages: 100,
  messageLength: 16_000,
  combinedLength: 64_000,
  maxTokens: 4_096,
  defaultMaxTokens: 512,
  temperature: 2,
  choices: 8,
} as const;

/** Returns the most tokens that the request allows for the answer. The context can allow fewer. */
export const mostTokens = ({ maxTokens }: ChatRequest): number => maxTokens ?? chatLimits.defaultMaxTokens;
