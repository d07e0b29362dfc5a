/** Chat engines elsewhere that speak OpenAI's chat completions: vLLM, llama.cpp, Ollama, TGI and others. */
import { z } from 'zod';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { specText } from '../runtimes/engine-api.js';
import { HttpChatRuntime } from '../runtimes/http-chat-runtime.js';

const MOST_ALIASES = 100;
const NO_ALIASES = `must be an array of at most ${MOST_ALIASES} names`;

const Model = z.object({
  /** The engine's name of the model. */
  model: specText('must be what the engine calls the model'),
  /** Other names that its answers may give. */
  model_aliases: z.array(specText(NO_ALIASES), NO_ALIASES).max(MOST_ALIASES, NO_ALIASES).nullish(),
});
type Model = z.infer<typeof Model>;

const NO_COMPLETION = 'it is not a chat completion.';
const NO_TEXT = 'it has no text of the assistant.';
const OTHER_MODEL = 'it is of another model than the one that was asked.';
const OTHER_END = 'it did not end as an answer does.';

/** An answer that ends otherwise, for example with the call of a tool, is not all that the model has to say. */
const FinishReason = z.enum(['stop', 'length', 'eos_token', 'stop_sequence'], OTHER_END).nullish();

const Choice = z.object(
  {
    message: z.object({ role: z.literal('assistant', NO_TEXT), content: z.string(NO_TEXT).min(1, NO_TEXT) }, NO_TEXT),
    finish_reason: FinishReason,
  },
  NO_TEXT,
);

/** No answer has more tokens. */
const Count = z.int().min(0).max(1_000_000_000);

/** Anything else than three counts means that the engine does not report its usage. */
const UsageFigures = z
  .object({
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: z.object({ cached_tokens: Count }).nullish().catch(null),
  })
  .nullable()
  .catch(null);

export class OpenAiChatRuntime extends HttpChatRuntime<Model> {
  readonly kind = 'openai';
  protected readonly fields = Model;
  override readonly probePath = '/models';
  /** Matches OpenAI's code, llama.cpp's type and vLLM's message. */
  readonly contextExceeded = /context_length_exceeded|exceed_context_size|maximum context length/i;

  request({ messages, temperature, maxTokens }: ChatRequest, { model }: Model) {
    const limit = maxTokens === null ? {} : { max_tokens: maxTokens };
    return { path: '/chat/completions', body: { model, messages, temperature, stream: false, ...limit } };
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
      .transform(({ choices: [{ message, finish_reason }], usage }) => ({
        text: message.content,
        finishReason: finish_reason === 'length' ? 'length' : 'stop',
        usage: usage && {
          promptTokens: usage.prompt_tokens,
          cachedTokens: Math.min(usage.prompt_tokens_details?.cached_tokens ?? 0, usage.prompt_tokens),
          completionTokens: usage.completion_tokens,
        },
      }));
  }
}
