/** Translates requests and answers for engines with OpenAI's API: vLLM, llama.cpp, Ollama, TGI and others. */
import { z } from 'zod';
import type { ChatRequest, Completion, Passthrough, ToolCall, ToolCallPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest } from '../../domain/chat/embedding.js';
import type { OptionalField } from '../../domain/chat/request-field.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import type { EngineChunk } from '../http-engine/engine-dialect.js';
import { specText } from '../http-engine/engine-spec.js';
import { HttpChatEngine } from '../http-engine/http-chat-engine.js';
import { embeddingsOf } from './embeddings.js';
import { requestJson } from './openai-request.js';

const MOST_ALIASES = 100;
const NO_ALIASES = `must be an array of at most ${MOST_ALIASES} names`;

const Model = z.object({
  /** The name that the engine gives the model. */
  model: specText('must be what the engine calls the model'),
  /** Other names of the model that may be in the engine's answers. */
  model_aliases: z.array(specText(NO_ALIASES), NO_ALIASES).max(MOST_ALIASES, NO_ALIASES).nullish(),
});
type Model = z.infer<typeof Model>;

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

const isShallow = (value: unknown, levels = MOST_LEVELS): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1)));

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
      z.custom<JsonObject>((call) => typeof call === 'object' && call !== null && isShallow(call), NO_CALLS),
      NO_CALLS,
    )
    .max(MOST_CALLS, NO_CALLS)
    .transform((calls) => calls.map(callOf))
    .nullish();

const logprobFields = {
  token: z.string(NO_LOGPROBS),
  logprob: z.number(NO_LOGPROBS),
  bytes: z.array(z.int(NO_LOGPROBS).min(0, NO_LOGPROBS).max(255, NO_LOGPROBS), NO_LOGPROBS).nullish(),
};
const Logprob = z
  .object(logprobFields, NO_LOGPROBS)
  .transform(({ bytes, ...rest }) => ({ ...rest, bytes: bytes ?? [...Buffer.from(rest.token)] }));
const TokenLogprob = z
  .object({ ...logprobFields, top_logprobs: z.array(Logprob, NO_LOGPROBS).nullish() }, NO_LOGPROBS)
  .transform(({ top_logprobs: top, ...token }) => ({ ...Logprob.parse(token), top: top ?? [] }));
const Logprobs = z.object({ content: z.array(TokenLogprob, NO_LOGPROBS).nullish() }, NO_LOGPROBS).nullish();

const content = z.string(NO_TEXT).nullish();

const Choice = z.object(
  {
    message: z.object({ role: z.literal('assistant', NO_TEXT), content, tool_calls: toolCalls(toolCallOf) }, NO_TEXT),
    logprobs: Logprobs,
    finish_reason: FinishReason,
  },
  NO_TEXT,
);

/** Some chunks from Azure have only annotations, and no delta. */
const ChunkChoice = z.object(
  {
    index: z.literal(0, NO_CHUNK).nullish(),
    delta: z.object({ content, tool_calls: toolCalls(toolCallPartOf) }, NO_CHUNK).nullish(),
    logprobs: Logprobs,
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

export class OpenAiChatEngine extends HttpChatEngine<Model> {
  readonly kind = 'openai';
  protected readonly fields = Model;
  override readonly probePath = '/models';
  /** Matches OpenAI's code, llama.cpp's type and vLLM's message. */
  readonly contextExceeded = /context_length_exceeded|exceed_context_size|maximum context length/i;

  override readonly passthrough = 'openai';

  readonly supported = new Set<OptionalField>([
    'tools',
    'toolChoice',
    'responseFormat',
    'topP',
    'seed',
    'stop',
    'presencePenalty',
    'frequencyPenalty',
    'logitBias',
    'topLogprobs',
    'parts',
    'name',
    'toolCalls',
    'toolCallId',
    'refusal',
  ]);

  request(request: ChatRequest, { model }: Model, stream: boolean) {
    return { path: '/chat/completions', body: requestJson(request, model, stream) };
  }

  answer({ model, model_aliases }: Model): z.ZodType<Completion> {
    return z
      .object(
        {
          object: z.literal('chat.completion', NO_COMPLETION),
          model: z.enum([model, ...(model_aliases ?? [])], OTHER_MODEL),
          choices: z.tuple([Choice], NO_TEXT).rest(z.unknown()),
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

  override chunk({ model, model_aliases }: Model): z.ZodType<EngineChunk> {
    return z
      .object(
        {
          error: z.null(ENGINE_ERROR).optional(),
          object: z.enum(['chat.completion.chunk', ''], NO_CHUNK),
          model: z.enum([model, ...(model_aliases ?? []), ''], OTHER_MODEL),
          choices: z.array(ChunkChoice, NO_CHUNK).max(1, NO_CHUNK).nullish(),
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

  override embeddings(request: EmbeddingRequest, { model, model_aliases }: Model) {
    return embeddingsOf(request, model, [model, ...(model_aliases ?? [])]);
  }
}

/** Returns whether a chunk adds nothing. Azure's chunks with only annotations add nothing, and name no model. */
const isEmpty = (choice: z.infer<typeof ChunkChoice> | undefined): boolean =>
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
