/** Reads the calls of tools in the answers of engines with OpenAI's API. */
import { z } from 'zod';
import type { ToolCall, ToolCallPart } from '../../domain/chat/chat.js';

const NO_CALLS = 'its calls of tools are invalid.';

const MOST_CALLS = 128;
const MOST_LEVELS = 16;

/** Limits the values of all calls together. Their arguments are texts, so they need few. */
const MOST_CALL_VALUES = 10_000;

/** Counts the values in a value. The count is infinite beyond the limit of levels. */
function countOf(value: unknown, levels = MOST_LEVELS + 1): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  return Object.values(value).reduce((count, inner) => count + countOf(inner, levels - 1), 1);
}

const CallText = z.string(NO_CALLS);

export const WholeCall = z
  .object({ id: CallText, function: z.object({ name: CallText, arguments: CallText }, NO_CALLS) }, NO_CALLS)
  .transform(({ id, function: called }): ToolCall => ({ id, ...called }));

export const CallPart = z
  .object(
    {
      index: z.int(NO_CALLS).min(0, NO_CALLS),
      id: CallText.nullish(),
      function: z.object({ name: CallText.nullish(), arguments: CallText.nullish() }, NO_CALLS).nullish(),
    },
    NO_CALLS,
  )
  .transform(({ index, id, function: called }): ToolCallPart => {
    const { name, arguments: text } = called ?? {};
    return { index, ...(id && { id }), ...(name && { name }), arguments: text ?? '' };
  });

/** vLLM sends an empty array if there are none. */
export const toolCalls = <Call>(call: z.ZodType<Call>) =>
  z
    .custom<unknown[]>(
      (calls) => Array.isArray(calls) && calls.length <= MOST_CALLS && countOf(calls) <= MOST_CALL_VALUES,
      NO_CALLS,
    )
    .pipe(z.array(call, NO_CALLS))
    .nullish();
