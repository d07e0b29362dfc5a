/** The state of one answer between the steps of the model. */
import type { Scores } from './decoder.js';
import type { Past } from './kv-cache.js';
import type { CachedTokens } from './prefix-cache.js';

export interface Generation {
  readonly caller: string;
  readonly prompt: readonly number[];
  /** The most tokens of the answer, at least 1. */
  readonly room: number;
  /** Returns null if the next token can be chosen now. Else returns a promise that resolves when it can, or rejects. */
  late?(): Promise<void> | null;
  /** Returns the next token, or null to end the answer. */
  choose(scores: Scores): number | null;
  /** Adds a token to the answer. Returns true if the answer ends with this token. */
  add(token: number, scores: Scores): boolean;
}

export interface Generated {
  /** The tokens of the answer, without the model's end token. */
  readonly tokens: readonly number[];
  readonly finishReason: 'stop' | 'length';
  /** Tokens of the prompt that another sequence of the caller had already read. */
  readonly cachedTokens: number;
  readonly firstTokenMs: number;
  /** The time from each token to the next. */
  readonly betweenTokensMs: readonly number[];
}

export interface Sequence extends CachedTokens {
  readonly call: number;
  readonly request: Generation;
  readonly tokens: number[];
  past: Past;
  cachedTokens: number;
  readonly began: number;
  /** When each token was chosen. */
  readonly times: number[];
  readonly resolve: (generated: Generated | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Returns the number of tokens that the sequence has not read yet. */
export const lengthLeft = ({ past, tokens }: Sequence): number => tokens.length - past.length;

export function generatedBy(
  { request, tokens, times, began, cachedTokens }: Sequence,
  finishReason: Generated['finishReason'],
) {
  const [firstTokenMs = 0, ...betweenTokensMs] = times.map((time, i) => time - (times[i - 1] ?? began));
  return { tokens: tokens.slice(request.prompt.length), finishReason, cachedTokens, firstTokenMs, betweenTokensMs };
}
