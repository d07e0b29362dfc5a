import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { injectable } from 'inversify';
import { EmbeddingService } from '../../../../application/chat/embedding.service.js';
import type { Embeddings } from '../../../../domain/chat/embedding.js';
import type { JsonObject } from '../../../../domain/workspace/json.js';
import { type AnswerOf, type CallOf, type Controller, route, StreamedResponse } from '../../contract.js';
import { JSON_TYPE } from '../../middleware/respond.js';
import { modelHeader } from '../dialects.js';
import { verbatimJson } from './answer-mapper.js';
import { createOpenAiEmbeddings, type EmbeddingsRequest, requireUnderstoodTexts } from './embeddings.contract.js';

/** After this many numbers have been written as text, other requests can run. */
const NUMBERS_PER_STEP = 8_192;

@injectable()
export class EmbeddingsController implements Controller {
  readonly routes = [route(createOpenAiEmbeddings, (call) => this.create(call))];

  constructor(private readonly embeddings: EmbeddingService) {}

  private async create({ caller, body, signal, memory }: CallOf<typeof createOpenAiEmbeddings>) {
    const { model, input, encoding_format: format, dimensions } = body;
    const verbatim = {
      dialect: 'openai',
      json: body as unknown as JsonObject,
      wantsUsage: true,
      requireUnderstood: () => requireUnderstoodTexts(body),
    };
    const request = { texts: [input].flat(), ...(dimensions && { dimensions }), verbatim };
    const { embeddings, modelId } = await this.embeddings.embed(caller, { model, request, signal, memory });
    const text =
      embeddings.verbatim === undefined
        ? answerText(model, embeddings, format)
        : Buffer.from(verbatimJson(embeddings.verbatim, model));
    return new StreamedResponse(200, { 'Content-Type': JSON_TYPE, ...modelHeader(modelId) }, text);
  }
}

type Answer = AnswerOf<typeof createOpenAiEmbeddings>;

/** Yields the JSON of the answer piece by piece. As one text it could delay other requests, and take much memory. */
async function* answerText(
  model: string,
  { vectors, promptTokens }: Embeddings,
  format: EmbeddingsRequest['encoding_format'],
): AsyncGenerator<Buffer> {
  const tokens = promptTokens ?? 0;
  const others: Omit<Answer, 'data'> = {
    object: 'list',
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
  let text = `${JSON.stringify(others).slice(0, -1)},"data":[`;
  let numbers = 0;
  for (const [index, vector] of vectors.entries()) {
    const embedding = format === 'base64' ? base64Of(vector) : [...vector];
    const item: Answer['data'][number] = { object: 'embedding', index, embedding };
    text += (index > 0 ? ',' : '') + JSON.stringify(item);
    numbers += vector.length;
    if (numbers < NUMBERS_PER_STEP) continue;
    yield Buffer.from(text);
    text = '';
    numbers = 0;
    await yieldToEventLoop();
  }
  yield Buffer.from(`${text}]}`);
}

const base64Of = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');
