/** Contains what all dialects of the chat API share. */
import { z } from 'zod';
import type { Usage } from '../../../domain/chat/chat.js';
import { type DomainError, InvalidRequest } from '../../../domain/shared/errors.js';
import { AnyJson, intLike, text } from '../schemas.js';

/** Counts code points. A simple emoji is one code point and two units of UTF-16. */
export const characters = (content: string) => {
  let count = 0;
  for (const _ of content) count++;
  return count;
};

/** Refuses a list with too many items before the schema checks each of them. */
export function refuseTooMany(json: unknown, path: string, most: number, message: string): DomainError | null {
  const list = (json as Record<string, unknown> | null)?.[path];
  return Array.isArray(list) && list.length > most ? new InvalidRequest([{ path, message }]) : null;
}

/** Names the model of a request. */
export const modelField = text().meta({
  description: 'The id of a project of your team, or its name if no other project of the team has it.',
  example: 'prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
});

/** A field that clients send and that changes nothing. */
export const withoutEffect = AnyJson.optional().describe('Accepted without effect.');

/** The most likeliest tokens that a dialect reports at each place. */
export const MOST_TOP_LOGPROBS = 20;

/** A number of a request that may be absent or null. */
export const within = (min: number, max: number) => {
  const error = `must be a number from ${min} to ${max}`;
  return z.number({ error }).min(min, { error }).max(max, { error }).nullish();
};

export const isGiven = <T>(value: T | null | undefined): value is T => value !== null && value !== undefined;

export const UsageAnswer = z
  .object({
    prompt_tokens: intLike(17),
    completion_tokens: intLike(2),
    total_tokens: intLike(19),
    prompt_tokens_details: z.object({
      cached_tokens: intLike(0, 'The tokens of the prompt that were taken from the prefix cache.'),
    }),
  })
  .nullable()
  .describe('Null if the runtime does not report it.');

/** Returns the usage in the form of OpenAI. */
export const usageAnswer = (usage: Usage | null) =>
  usage && {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
  };

/** Names the header of a conversation, in requests and answers. */
export const CONVERSATION = 'X-Conversation-Id';

/** Names the header with the model that has answered. */
export const MODEL = 'X-Model-Id';

export const modelHeader = (id: string | null): Record<string, string> => (id === null ? {} : { [MODEL]: id });

/** Describes the header of a route whose answers can be streams. */
export const MODEL_ANSWERED =
  'The registered model that has answered. Absent in a stream that began with a comment, because no model had content yet.';

export const ConversationHeader = z
  .string()
  .regex(/^(new|cnv_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/, {
    error: 'must be "new" or the id of a conversation, cnv_…',
  })
  .optional()
  .meta({ description: '`new`, or the id of one of your own conversations in this project.', example: 'new' });

/** Lists the codes with which any call to a runtime may be refused. */
export const runtimeRefusals = [
  'context_length_exceeded',
  'model_busy',
  'budget_exceeded',
  'runtime_invalid_response',
  'runtime_not_connected',
  'runtime_loading',
  'runtime_stopped',
  'runtime_unavailable',
  'inference_timeout',
] as const;
