/** Translates requests and answers for engines with OpenAI's API: vLLM, llama.cpp, Ollama, TGI and others. */
import { z } from 'zod';
import type { ChatRequest } from '../../domain/chat/chat.js';
import type { EmbeddingRequest } from '../../domain/chat/embedding.js';
import type { OptionalField } from '../../domain/chat/request-field.js';
import type { Wanted } from '../http-engine/engine-dialect.js';
import { specText } from '../http-engine/engine-spec.js';
import { HttpChatEngine } from '../http-engine/http-chat-engine.js';
import { embeddingsOf } from './embeddings.js';
import { schemas } from './openai-answers.js';
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

export class OpenAiChatEngine extends HttpChatEngine<Model> {
  readonly kind = 'openai';
  protected readonly fields = Model;
  override readonly probePath = '/models';
  /** Matches OpenAI's code, llama.cpp's type and vLLM's message. */
  readonly contextExceeded = /context_length_exceeded|exceed_context_size|maximum context length/i;

  override readonly verbatim = 'openai';

  readonly supported = new Set<OptionalField>([
    'tools',
    'toolChoice',
    'parallelToolCalls',
    'reasoningEffort',
    'responseFormat',
    'topP',
    'topK',
    'minP',
    'repetitionPenalty',
    'templateFields',
    'unknown',
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
    'reasoning',
  ]);

  request(request: ChatRequest, { model }: Model, stream: boolean) {
    return { path: '/chat/completions', body: requestJson(request, model, stream) };
  }

  override readonly module = 'infrastructure/openai/openai-answers.js';

  answer(model: Model, wanted: Wanted) {
    return schemas.answer(model, wanted);
  }

  override chunk(model: Model, wanted: Wanted) {
    return schemas.chunk(model, wanted);
  }

  override embeddings(request: EmbeddingRequest, { model, model_aliases }: Model) {
    return embeddingsOf(request, model, [model, ...(model_aliases ?? [])]);
  }
}
