/** The messages between the service and a worker process that runs a chat model or an embedding model. */
import { z } from 'zod';
import type { ChatRequest } from '../../domain/chat/chat.js';

export interface LoadSettings {
  /** One of several weights: a variant (`q4`) or the name of a file in the folder `onnx`. Default: the usual file. */
  readonly weights?: string;
  /** Sequences in one batch. Default: 16. */
  readonly maxBatch?: number;
  /** Bytes of the KV caches of all sequences in work, at their longest. Default: 512 MiB. */
  readonly kvBytes?: number;
  /** Bytes of the prefix cache. Default: 256 MiB. */
  readonly cacheBytes?: number;
}

/** Goes to the worker. `call` is the number of a request, which is never used twice. */
export type Order =
  | ({ readonly type: 'load'; readonly folder: string; readonly threads: number } & LoadSettings)
  /** Tokenizes a request. The worker answers `tokenized`, `too_long`, `refused` or `failed`. */
  | {
      readonly type: 'tokenize';
      readonly call: number;
      readonly caller: string;
      readonly request: ChatRequest;
      /** Report the answer in parts. */
      readonly stream: boolean;
    }
  /** Does the same for texts that are to be embedded. */
  | {
      readonly type: 'tokenize_texts';
      readonly call: number;
      readonly caller: string;
      readonly texts: readonly string[];
    }
  /**
   * Generates the answer to a tokenized request. The worker answers `completed` or `failed`, after any `parts`. For texts
   * it answers `embedded` or `failed`.
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

const Part = z.object({ call, text: z.string(), logprobs: Logprobs });
export type Part = z.infer<typeof Part>;

const Report = z.discriminatedUnion('type', [
  /** `maxBatch`: the calls that are worked on at once, 1 if the model can't be run in batches. */
  z.object({ type: z.literal('ready'), task: z.enum(['chat', 'embedding']), maxBatch: z.int().min(1) }),
  /** The model can't be used; another attempt would give the same. */
  z.object({ type: z.literal('broken'), reason: z.string() }),
  /** `room`: tokens that the answer may have. */
  z.object({ type: z.literal('tokenized'), call, promptTokens: count, room: count }),
  /** If not `whole`, the prompt, or the text with number `index`, has more tokens than were counted. */
  z.object({
    type: z.literal('too_long'),
    call,
    promptTokens: count,
    whole: z.boolean(),
    context: count,
    index: count.optional(),
  }),
  /** The model can't do with a field of the request, as when its chat template refuses the messages. */
  z.object({ type: z.literal('refused'), call, path: z.string(), message: z.string() }),
  z.object({
    type: z.literal('completed'),
    call,
    /** The text that no part had, and its tokens. */
    text: z.string(),
    logprobs: Logprobs,
    finishReason: z.enum(['stop', 'length']),
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
  /** The parts of all streamed answers that one step of the model has made. */
  z.object({ type: z.literal('parts'), parts: z.array(Part) }),
  z.object({ type: z.literal('failed'), call, reason: z.string() }),
  z.object({ type: z.literal('cancelled'), call }),
]);

export type Report = z.infer<typeof Report>;
export type CallReport = Extract<Report, { call: number }>;

/** Returns the report that `message` is, or null for anything else. */
export const reportOf = (message: unknown): Report | null => Report.safeParse(message).data ?? null;

/** Returns the call that an invalid message seems to be about, or null. */
export const callOf = (message: unknown): number | null => z.object({ call }).safeParse(message).data?.call ?? null;
