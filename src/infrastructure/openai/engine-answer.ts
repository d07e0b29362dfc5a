import type { Completion, Usage } from '../../domain/chat/chat.js';
import {
  ContextLengthExceeded,
  InferenceTimeout,
  ModelBusy,
  RuntimeInvalidResponse,
  RuntimeLoading,
  RuntimeUnavailable,
} from '../../domain/chat/errors.js';
import type { OpenAiSource } from '../../domain/chat/runtime.js';
import type { DomainError } from '../../domain/shared/errors.js';
import type { EngineAnswer } from './engine-client.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The completion that a successful answer is. Nothing of it is passed on unread, and nothing of what is wrong with it
 * is repeated. Throws RuntimeInvalidResponse.
 */
export function completionOf(text: string, { model, modelAliases }: OpenAiSource): Completion {
  const answer = parsed(text);
  if (answer?.object !== 'chat.completion') throw new RuntimeInvalidResponse('it is not a chat completion.');
  if (typeof answer.model !== 'string' || ![model, ...modelAliases].includes(answer.model))
    throw new RuntimeInvalidResponse('it is of another model than the one that was asked.');
  const choice = fields(Array.isArray(answer.choices) ? answer.choices[0] : null);
  const message = fields(choice?.message);
  const said = message?.role === 'assistant' ? message.content : null;
  if (typeof said !== 'string' || said === '') throw new RuntimeInvalidResponse('it has no text of the assistant.');
  return { text: said, finishReason: finishReasonOf(choice?.finish_reason), usage: usageOf(answer.usage) };
}

/** What an unsuccessful answer means for the caller. `retryAfter`: in seconds, where the engine gives no time. */
export function refusalOf({ status, retryAfter, text }: EngineAnswer, otherwise: number): DomainError {
  const wait = secondsOf(retryAfter);
  if (status === 429) return new ModelBusy(wait ?? otherwise);
  if (status === 503) return wait === null ? new RuntimeUnavailable('the engine says so.') : new RuntimeLoading(wait);
  if (status === 401 || status === 403) return new RuntimeUnavailable(KEY_REFUSED);
  if (status === 408 || status === 504) return new InferenceTimeout();
  if (saysTooLong(status, text))
    return new ContextLengthExceeded("The prompt, or prompt and max_tokens, is over the model's context.");
  if (status >= 300 && status < 400) return new RuntimeInvalidResponse('it redirects, which is not followed.');
  return new RuntimeInvalidResponse(`its engine answered with status ${status}.`);
}

export const KEY_REFUSED = 'the engine refused the key';

/** Engines have different words for it: OpenAI's code, llama.cpp's type, vLLM's message. */
function saysTooLong(status: number, text: string): boolean {
  if (![400, 404, 413, 422].includes(status)) return false;
  const answer = parsed(text);
  const { code, type, message } = fields(answer?.error) ?? answer ?? {};
  const words = [code, type, message].filter((one) => typeof one === 'string').join(' ');
  return /context_length_exceeded|exceed_context_size|maximum context length/i.test(words);
}

/** An answer that ends otherwise, for example with the call of a tool, is not all that the model has to say. */
function finishReasonOf(reason: unknown): Completion['finishReason'] {
  if (reason === 'length' || reason === 'stop') return reason;
  if (reason === null || reason === undefined || reason === 'eos_token' || reason === 'stop_sequence') return 'stop';
  throw new RuntimeInvalidResponse('it did not end as an answer does.');
}

function usageOf(reported: unknown): Usage | null {
  const usage = fields(reported);
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage ?? {};
  if (!isCount(promptTokens) || !isCount(completionTokens)) return null;
  const cached = fields(usage?.prompt_tokens_details)?.cached_tokens;
  return { promptTokens, cachedTokens: isCount(cached) ? Math.min(cached, promptTokens) : 0, completionTokens };
}

/** Whole seconds, 1 to 60; null for anything but a number of them. */
function secondsOf(retryAfter: string | undefined): number | null {
  return retryAfter && /^\d{1,9}$/.test(retryAfter) ? Math.min(60, Math.max(1, Number(retryAfter))) : null;
}

function parsed(text: string): Fields | null {
  try {
    return fields(JSON.parse(text));
  } catch {
    return null;
  }
}

const fields = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null ? (value as Fields) : null;

/** More than any answer has. */
const MOST_TOKENS = 1_000_000_000;

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
