/** Reads the answers of engines with OpenAI's API. */
import { z } from 'zod';
import type {
  Answer,
  Completion,
  CompletionPart,
  FinishReason,
  ToolCall,
  ToolCallPart,
} from '../../domain/chat/chat.js';
import type { Json, JsonObject } from '../../domain/workspace/json.js';
import type { EngineChunk, Wanted } from '../http-engine/engine-dialect.js';
import { embeddingsAnswer } from './embeddings.js';
import { Logprobs } from './openai-logprobs.js';
import { CallPart, toolCalls, WholeCall } from './tool-calls.js';
import { withJson } from './with-json.js';

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
const ENGINE_ERROR = 'its engine reported an error.';

/** Some engines have other words for `stop`, or send an empty text before the end. */
const ends: Readonly<Record<string, FinishReason | null>> = {
  stop: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  '': null,
};

/** Another reason means that the answer is incomplete, for example after a filter. Only verbatim answers have it. */
const finishReasonOf = ({ verbatim }: Wanted) =>
  z
    .string(OTHER_END)
    .refine((reason) => verbatim !== null || Object.hasOwn(ends, reason), OTHER_END)
    .transform((reason) => (Object.hasOwn(ends, reason) ? (ends[reason] ?? null) : 'other'))
    .nullish();

const MOST_CHOICES = 1_024;
const Unread = z.unknown().transform(() => null);

const logprobsOf = ({ logprobs }: Wanted): z.ZodType<z.output<typeof Logprobs>> => (logprobs ? Logprobs : Unread);

const Text = z.string(NO_TEXT).nullish();
/** The caller of a verbatim request reads the content itself, whatever its form is. */
const Any = z.unknown().transform((content) => (typeof content === 'string' ? content : null));
const contentOf = ({ verbatim }: Wanted) => (verbatim ? Any.optional() : Text);

/** Engines have two names for what the model thinks. */
const reasoningFields = { reasoning_content: Any.optional(), reasoning: Any.optional() };

/** The caller of a verbatim request reads the calls itself. Those of another form are then unknown here. */
const callsOf = <Call>({ verbatim }: Wanted, call: z.ZodType<Call>) =>
  verbatim ? toolCalls(call).catch(null) : toolCalls(call);

/** vLLM has the stop text that was reached in `stop_reason`. It may also be the number of a token. */
const StopText = Any.optional();

const stopTextOf = (reason: string | null | undefined) => (reason ? { stopText: reason } : {});

const choiceOf = (wanted: Wanted) =>
  z.object(
    {
      message: z.object(
        {
          role: z.literal('assistant', NO_TEXT),
          content: contentOf(wanted),
          tool_calls: callsOf(wanted, WholeCall),
          ...reasoningFields,
        },
        NO_TEXT,
      ),
      logprobs: logprobsOf(wanted).optional(),
      finish_reason: finishReasonOf(wanted),
      stop_reason: StopText,
    },
    NO_TEXT,
  );

const NO_COMPLETED_TEXT = 'it has no text of a completion.';

/** A completion of a text only has the fields of a choice itself. The caller reads the others. */
const textChoiceOf = (wanted: Wanted) =>
  z
    .object({ text: z.string(NO_COMPLETED_TEXT), finish_reason: finishReasonOf(wanted) }, NO_COMPLETED_TEXT)
    .transform(({ text, finish_reason }) => {
      const message = { role: 'assistant' as const, content: text };
      return { message, logprobs: null, finish_reason, stop_reason: null };
    });

const textChunkChoiceOf = (wanted: Wanted) =>
  z
    .object({ index: z.int(NO_CHUNK).nullish(), text: Any.optional(), finish_reason: finishReasonOf(wanted) }, NO_CHUNK)
    .transform(({ index, text, finish_reason }) => {
      return { index, delta: { content: text }, logprobs: null, finish_reason, stop_reason: null };
    });

/** Some chunks from Azure have only annotations, and no delta. */
const chunkChoiceOf = (wanted: Wanted) =>
  z.object(
    {
      index: wanted.verbatim ? z.int(NO_CHUNK).nullish() : z.literal(0, NO_CHUNK).nullish(),
      delta: z
        .object({ content: contentOf(wanted), tool_calls: callsOf(wanted, CallPart), ...reasoningFields }, NO_CHUNK)
        .nullish(),
      logprobs: logprobsOf(wanted).optional(),
      finish_reason: finishReasonOf(wanted),
      stop_reason: StopText,
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
    completion_tokens_details: z.object({ reasoning_tokens: Count }).nullish().catch(null),
  })
  .transform(({ prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details }) => ({
    promptTokens: prompt_tokens,
    cachedTokens: Math.min(prompt_tokens_details?.cached_tokens ?? 0, prompt_tokens),
    completionTokens: completion_tokens,
    ...(completion_tokens_details && { reasoningTokens: completion_tokens_details.reasoning_tokens }),
  }))
  .nullable()
  .catch(null);

const namesOf = ({ model, model_aliases }: Model) => [model, ...(model_aliases ?? [])];

function answer(model: Model, wanted: Wanted): z.ZodType<Completion> {
  return withJson(
    z
      .object(
        {
          object: z.literal(wanted.texts ? 'text_completion' : 'chat.completion', NO_COMPLETION),
          model: z.enum(namesOf(model), OTHER_MODEL),
          choices: z
            .tuple([wanted.texts ? textChoiceOf(wanted) : choiceOf(wanted)], NO_TEXT)
            .rest(wanted.verbatim && !wanted.texts ? choiceOf(wanted).nullable().catch(null) : Unread),
          usage: UsageFigures,
        },
        NO_COMPLETION,
      )
      .transform(({ choices: [first, ...others], usage }) => {
        const further = others.flatMap((choice) => (choice ? [answerOf(choice)] : []));
        return { ...answerOf(first), usage, ...(further.length > 0 && { others: further }) };
      }),
    ({ model: _, ...json }) => (wanted.verbatim ? json : null),
    NO_COMPLETION,
  );
}

function chunk(model: Model, wanted: Wanted): z.ZodType<EngineChunk> {
  return withJson(
    z
      .object(
        {
          error: z.null(ENGINE_ERROR).optional(),
          object: z.enum([wanted.texts ? 'text_completion' : 'chat.completion.chunk', ''], NO_CHUNK),
          model: z.enum([...namesOf(model), ''], OTHER_MODEL),
          choices: z
            .array(wanted.texts ? textChunkChoiceOf(wanted) : chunkChoiceOf(wanted), NO_CHUNK)
            .max(wanted.verbatim ? MOST_CHOICES : 1, NO_CHUNK)
            .nullish(),
          usage: UsageFigures,
        },
        NO_CHUNK,
      )
      .refine(({ object, model, choices }) => (object && model) || isEmpty(choices?.[0]), OTHER_MODEL)
      .transform(({ choices, usage }): EngineChunk => {
        const first = choices?.find(({ index }) => !index);
        const [other] = first ? [] : (choices ?? []);
        if (other) return { ...partOfOther(other), finishReason: null, usage };
        const finishReason = first?.finish_reason ?? null;
        return { ...partOf(first?.delta, first?.logprobs), ...stopTextOf(first?.stop_reason), finishReason, usage };
      }),
    ({ model: _, ...json }) => {
      if (!wanted.verbatim || wanted.verbatim.usage) return wanted.verbatim && json;
      const { usage, ...others } = json;
      const isOnlyUsage = usage && Array.isArray(json.choices) && json.choices.length === 0;
      return isOnlyUsage ? null : others;
    },
    NO_CHUNK,
    (json) => ({
      isOpening: !json.usage && (json.choices as readonly JsonObject[] | null)?.every(isOpening) !== false,
    }),
  );
}

/** Returns whether a choice of a chunk has nothing of the answer yet. */
const isOpening = ({ delta, text = null, finish_reason: reason }: JsonObject): boolean =>
  !reason &&
  isNothing(text) &&
  Object.entries(delta ?? {}).every(([name, value]) => name === 'role' || isNothing(value));

const isNothing = (value: Json): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Returns whether a chunk adds nothing. Azure's chunks with only annotations add nothing, and name no model. */
const isEmpty = (choice: z.infer<ReturnType<typeof chunkChoiceOf>> | undefined): boolean =>
  !choice?.delta?.content &&
  !choice?.delta?.tool_calls?.length &&
  !reasoningOf(choice?.delta) &&
  !choice?.finish_reason;

interface Reasoned {
  readonly reasoning_content?: string | null | undefined;
  readonly reasoning?: string | null | undefined;
}

const reasoningOf = (message: Reasoned | null | undefined): string | null =>
  message?.reasoning_content || message?.reasoning || null;

interface MessageJson<Call> extends Reasoned {
  readonly content?: string | null | undefined;
  readonly tool_calls?: readonly Call[] | null | undefined;
}

interface ChoiceJson<Call> {
  readonly message: MessageJson<Call>;
  readonly logprobs?: z.infer<typeof Logprobs> | null | undefined;
  readonly finish_reason?: FinishReason | null | undefined;
  readonly stop_reason?: string | null | undefined;
}

const answerOf = ({ message, logprobs, finish_reason, stop_reason }: ChoiceJson<ToolCall>): Answer => ({
  ...partOf(message, logprobs),
  ...stopTextOf(stop_reason),
  finishReason: finish_reason ?? 'stop',
});

interface ChunkChoiceJson {
  readonly index?: number | null | undefined;
  readonly delta?: MessageJson<ToolCallPart> | null | undefined;
  readonly finish_reason?: FinishReason | null | undefined;
}

/** Returns the part of a further choice. Only its own caller needs its probabilities. */
function partOfOther({ index, delta, finish_reason: finishReason }: ChunkChoiceJson): CompletionPart {
  const ended = finishReason ? { ended: { finishReason } } : {};
  return { ...partOf(delta, null), choice: index ?? 0, ...ended };
}

function partOf<Call>(
  message: MessageJson<Call> | null | undefined,
  logprobs: z.infer<typeof Logprobs> | null | undefined,
) {
  const { content, tool_calls: toolCalls } = message ?? {};
  const reasoning = reasoningOf(message);
  return {
    text: content ?? '',
    ...(toolCalls?.length && { toolCalls }),
    ...(reasoning !== null && { reasoning }),
    ...(logprobs?.content && { logprobs: logprobs.content }),
  };
}

export const schemas = { answer, chunk, embeddings: embeddingsAnswer };
