/** Reads the answers of engines with OpenAI's API. */
import { z } from 'zod';
import type { Completion, Logprob, Passthrough, TokenLogprob, ToolCall, ToolCallPart } from '../../domain/chat/chat.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import type { EngineChunk, Wanted } from '../http-engine/engine-dialect.js';
import { embeddingsAnswer } from './embeddings.js';

/** The names that the model may have in answers. */
interface Model {
  readonly model: string;
  readonly model_aliases?: readonly string[] | null | undefined;
}

const NO_COMPLETION = 'it is not a chat completion.';
const NO_CHUNK = 'it has an event that is not a chunk of a chat completion.';
const NO_TEXT = 'it has no text of the assistant.';
const OTHER_MODEL = 'it is of another model than the one that was asked.';
const OTHER_END = 'it did not end as an answer does.';
const NO_CALLS = 'its calls of tools are invalid.';
const NO_LOGPROBS = 'its log probabilities are invalid.';
const ENGINE_ERROR = 'its engine reported an error.';

/** Some engines have other words for `stop`, or send an empty text before the end. */
const ends = {
  stop: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  '': null,
} as const;
/** Refuses any other reason. For example, an answer that a filter ended is incomplete. */
const FinishReason = z
  .enum(Object.keys(ends) as (keyof typeof ends)[], OTHER_END)
  .transform((reason) => ends[reason])
  .nullish();

const MOST_CALLS = 128;
const MOST_LEVELS = 16;

/** Limits the values of all calls together. Their arguments are texts, so they need few. */
const MOST_CALL_VALUES = 10_000;

/** Counts the values in a value. The count is infinite beyond the limit of levels. */
function countOf(value: unknown, levels = MOST_LEVELS): number {
  if (typeof value !== 'object' || value === null) return 1;
  if (levels === 0) return Number.POSITIVE_INFINITY;
  return Object.values(value).reduce((count, inner) => count + countOf(inner, levels - 1), 1);
}

const WholeCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});
const FirstPart = WholeCall.extend({ index: z.int() });
const NextPart = z.strictObject({ index: z.int(), function: z.strictObject({ arguments: z.string() }) });

const passthrough = (json: JsonObject): Passthrough => ({ dialect: 'openai', json });

const moreOf = (fields: object) => (Object.keys(fields).length > 0 ? { more: passthrough(fields as JsonObject) } : {});

/** Passes on a call in another form unchanged. */
function toolCallOf(json: JsonObject): ToolCall | Passthrough {
  const { data } = WholeCall.safeParse(json);
  if (!data) return passthrough(json);
  const { id, type: _, function: called, ...more } = data;
  return { id, ...called, ...moreOf(more) };
}

function toolCallPartOf(json: JsonObject): ToolCallPart | Passthrough {
  const next = NextPart.safeParse(json).data;
  if (next) return { index: next.index, ...next.function };
  const { data } = FirstPart.safeParse(json);
  if (!data) return passthrough(json);
  const { index, id, type: _, function: called, ...more } = data;
  return { index, id, ...called, ...moreOf(more) };
}

/** vLLM sends an empty array if there are none. */
const toolCalls = <Call>(callOf: (json: JsonObject) => Call) =>
  z
    .array(
      z.custom<JsonObject>((call) => typeof call === 'object' && call !== null, NO_CALLS),
      NO_CALLS,
    )
    .max(MOST_CALLS, NO_CALLS)
    .refine((calls) => countOf(calls, MOST_LEVELS + 1) <= MOST_CALL_VALUES, NO_CALLS)
    .transform((calls) => calls.map(callOf))
    .nullish();

/** The most characters of a token. */
const LONGEST_TOKEN = 1_000;

/** Reads a list of log probabilities, or returns null if it is invalid. A schema for each value would take ten times as long. */
function listOf<T>(list: unknown, read: (entry: Readonly<Record<string, unknown>>) => T | null): T[] | null {
  if (!Array.isArray(list)) return null;
  const all: T[] = [];
  for (const entry of list) {
    const one = typeof entry === 'object' && entry !== null ? read(entry) : null;
    if (one === null) return null;
    all.push(one);
  }
  return all;
}

function logprobOf({ token, logprob, bytes }: Readonly<Record<string, unknown>>): Logprob | null {
  if (typeof token !== 'string' || token.length > LONGEST_TOKEN || !Number.isFinite(logprob)) return null;
  const own = bytes ?? [...Buffer.from(token)];
  return Array.isArray(own) && own.every(isByte) ? { token, logprob: logprob as number, bytes: own } : null;
}

const isByte = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255;

function tokenOf(entry: Readonly<Record<string, unknown>>): TokenLogprob | null {
  const token = logprobOf(entry);
  const top = listOf(entry.top_logprobs ?? [], logprobOf);
  return token && top && { ...token, top };
}

const Logprobs = z
  .object(
    {
      content: z
        .unknown()
        .transform((content, { addIssue }) => {
          const tokens = content === null || content === undefined ? undefined : listOf(content, tokenOf);
          if (tokens === null) addIssue(NO_LOGPROBS);
          return tokens ?? undefined;
        })
        .optional(),
    },
    NO_LOGPROBS,
  )
  .nullish();
const Unread = z.unknown().transform(() => null);

const logprobsOf = ({ logprobs }: Wanted): z.ZodType<z.output<typeof Logprobs>> => (logprobs ? Logprobs : Unread);

const content = z.string(NO_TEXT).nullish();

const choiceOf = (wanted: Wanted) =>
  z.object(
    {
      message: z.object({ role: z.literal('assistant', NO_TEXT), content, tool_calls: toolCalls(toolCallOf) }, NO_TEXT),
      logprobs: logprobsOf(wanted).optional(),
      finish_reason: FinishReason,
    },
    NO_TEXT,
  );

/** Some chunks from Azure have only annotations, and no delta. */
const chunkChoiceOf = (wanted: Wanted) =>
  z.object(
    {
      index: z.literal(0, NO_CHUNK).nullish(),
      delta: z.object({ content, tool_calls: toolCalls(toolCallPartOf) }, NO_CHUNK).nullish(),
      logprobs: logprobsOf(wanted).optional(),
      finish_reason: FinishReason,
    },
    NO_CHUNK,
  );

/** No answer has more tokens. */
const Count = z.int().min(0).max(1_000_000_000);

/** Missing or invalid counts mean that the engine does not report its usage. */
const UsageFigures = z
  .object({
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: z.object({ cached_tokens: Count }).nullish().catch(null),
  })
  .transform(({ prompt_tokens, completion_tokens, prompt_tokens_details: details }) => ({
    promptTokens: prompt_tokens,
    cachedTokens: Math.min(details?.cached_tokens ?? 0, prompt_tokens),
    completionTokens: completion_tokens,
  }))
  .nullable()
  .catch(null);

function answer({ model, model_aliases }: Model, wanted: Wanted): z.ZodType<Completion> {
  return z
    .object(
      {
        object: z.literal('chat.completion', NO_COMPLETION),
        model: z.enum([model, ...(model_aliases ?? [])], OTHER_MODEL),
        choices: z.tuple([choiceOf(wanted)], NO_TEXT).rest(z.unknown()),
        usage: UsageFigures,
      },
      NO_COMPLETION,
    )
    .transform(({ choices: [{ message, logprobs, finish_reason }], usage }) => ({
      ...contentOf(message, logprobs),
      finishReason: finish_reason ?? 'stop',
      usage,
    }));
}

function chunk({ model, model_aliases }: Model, wanted: Wanted): z.ZodType<EngineChunk> {
  return z
    .object(
      {
        error: z.null(ENGINE_ERROR).optional(),
        object: z.enum(['chat.completion.chunk', ''], NO_CHUNK),
        model: z.enum([model, ...(model_aliases ?? []), ''], OTHER_MODEL),
        choices: z.array(chunkChoiceOf(wanted), NO_CHUNK).max(1, NO_CHUNK).nullish(),
        usage: UsageFigures,
      },
      NO_CHUNK,
    )
    .refine(({ object, model, choices }) => (object && model) || isEmpty(choices?.[0]), OTHER_MODEL)
    .transform(({ choices, usage }) => {
      const { delta, logprobs, finish_reason } = choices?.[0] ?? {};
      return { ...contentOf(delta, logprobs), finishReason: finish_reason ?? null, usage };
    });
}

/** Returns whether a chunk adds nothing. Azure's chunks with only annotations add nothing, and name no model. */
const isEmpty = (choice: z.infer<ReturnType<typeof chunkChoiceOf>> | undefined): boolean =>
  !choice?.delta?.content && !choice?.delta?.tool_calls?.length && !choice?.finish_reason;

function contentOf<Call>(
  message: { content?: string | null | undefined; tool_calls?: readonly Call[] | null | undefined } | null | undefined,
  logprobs: z.infer<typeof Logprobs>,
) {
  const { content, tool_calls: toolCalls } = message ?? {};
  return {
    text: content ?? '',
    ...(toolCalls?.length && { toolCalls }),
    ...(logprobs?.content && { logprobs: logprobs.content }),
  };
}

export const schemas = { answer, chunk, embeddings: embeddingsAnswer };
