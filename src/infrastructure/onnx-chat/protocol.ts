/** Defines the messages between the service and a chat worker. */
import { z } from 'zod';
import type { ChatRequest } from '../../domain/chat/chat.js';

export interface LoadSettings {
  /** The weights to load: a variant (`q4`) or the name of a file in the folder `onnx`. Default: the usual file. */
  readonly weights?: string;
  /** Sequences in one batch. Default: 16. */
  readonly maxBatch?: number;
  /** The most bytes of the KV caches of all running sequences, each at the length of the longest. Default: 512 MiB. */
  readonly kvBytes?: number;
  /** Bytes of the prefix cache. Default: 256 MiB. */
  readonly cacheBytes?: number;
}

interface TextsOrder {
  readonly call: number;
  readonly caller: string;
  readonly texts: readonly string[];
}

/** A message to the worker. `call` is the number of a request. Each request has a new number. */
export type Order =
  | ({ readonly type: 'load'; readonly folder: string; readonly threads: number } & LoadSettings)
  /** Tokenizes a request. The worker answers `tokenized`, `too_long`, `refused` or `failed`. */
  | {
      readonly type: 'tokenize';
      readonly call: number;
      readonly caller: string;
      readonly request: ChatRequest;
      /** If true, the worker sends the answer in parts. */
      readonly stream: boolean;
    }
  /** Counts the tokens of a request's prompt. The worker answers `counted`, `too_long`, `refused` or `failed`. */
  | { readonly type: 'count'; readonly call: number; readonly caller: string; readonly request: ChatRequest }
  /** Tokenizes texts that are to be embedded. The worker answers with one of the same reports. */
  | ({ readonly type: 'tokenize_texts' } & TextsOrder)
  /** Counts the tokens of texts. The worker answers as to `count`. */
  | ({ readonly type: 'count_texts' } & TextsOrder)
  /**
   * Generates the answer to a tokenized request. The worker answers `completed`, `refused` or `failed`, after any
   * `parts`. For texts it answers `embedded` or `failed`.
   */
  | { readonly type: 'generate'; readonly call: number }
  /** Cancels a request at any time. The worker always answers `cancelled`. */
  | { readonly type: 'cancel'; readonly call: number };

const call = z.int().min(0);
const count = z.int().min(0);
const milliseconds = z.number().min(0);

const logprob = { token: z.string(), bytes: z.array(z.int().min(0).max(255)).readonly(), logprob: z.number() };
const TokenLogprob = z.object({ ...logprob, top: z.array(z.object(logprob)).readonly() });
const Logprobs = z.array(TokenLogprob).readonly().optional();

const ToolCalls = z
  .array(z.object({ index: count, name: z.string().optional(), arguments: z.string() }))
  .readonly()
  .optional();

const Part = z.object({ call, text: z.string(), logprobs: Logprobs, toolCalls: ToolCalls });
export type Part = z.infer<typeof Part>;

const Report = z.discriminatedUnion('type', [
  /**
   * `maxBatch`: the most calls that run at once. It is 1 if a chat model can't run batches. `reuse`: prompts share the
   * work for a common beginning. `tools`: the chat template knows tools. `context`: the most tokens of a prompt with its answer, or of a text to embed.
   */
  z.object({
    type: z.literal('ready'),
    task: z.enum(['chat', 'embedding']),
    maxBatch: z.int().min(1),
    reuse: z.boolean().optional(),
    tools: z.boolean().optional(),
    context: z.int().min(1),
  }),
  /** The model can't be used. Another attempt would fail in the same way. */
  z.object({ type: z.literal('broken'), reason: z.string() }),
  /** `room`: the most tokens that the answer may have. */
  z.object({ type: z.literal('tokenized'), call, promptTokens: count, room: count }),
  z.object({ type: z.literal('counted'), call, promptTokens: count }),
  /** The prompt, or the text at `index`, is too long. If `whole` is false, it has more than `promptTokens` tokens. */
  z.object({
    type: z.literal('too_long'),
    call,
    promptTokens: count,
    whole: z.boolean(),
    context: count,
    index: count.optional(),
  }),
  /** The model can't use a field of the request. For example, its chat template refuses the messages. */
  z.object({ type: z.literal('refused'), call, path: z.string(), message: z.string() }),
  z.object({
    type: z.literal('completed'),
    call,
    /** The text and the tool calls after the last part. `logprobs` are those of the tokens of the text. */
    text: z.string(),
    logprobs: Logprobs,
    toolCalls: ToolCalls,
    finishReason: z.enum(['stop', 'length', 'tool_calls']),
    stopText: z.string().optional(),
    promptTokens: count,
    /** Tokens of the prompt that were in the prefix cache. */
    cachedTokens: count,
    completionTokens: count,
    firstTokenMs: milliseconds,
    betweenTokensMs: z.array(milliseconds).readonly(),
    tookMs: milliseconds,
  }),
  /** `vectors`: the float32 numbers of all vectors, one after another, in base64. */
  z.object({
    type: z.literal('embedded'),
    call,
    vectors: z.string(),
    dimensions: z.int().min(1),
    promptTokens: count,
    tookMs: milliseconds,
  }),
  /** The new text of all streamed answers after one step of the model. */
  z.object({ type: z.literal('parts'), parts: z.array(Part) }),
  z.object({ type: z.literal('failed'), call, reason: z.string() }),
  /** `completionTokens`: the tokens of an unfinished answer. Absent if the answer had not begun, or was complete. */
  z.object({ type: z.literal('cancelled'), call, completionTokens: count.optional(), cachedTokens: count.optional() }),
]);

export type Report = z.infer<typeof Report>;
export type CallReport = Extract<Report, { call: number }>;

/** Returns `message` as a report, or null if it is not a valid report. */
export const reportOf = (message: unknown): Report | null => Report.safeParse(message).data ?? null;

/** Returns the number of the call in an invalid message, or null if it has none. */
export const callOf = (message: unknown): number | null => z.object({ call }).safeParse(message).data?.call ?? null;
