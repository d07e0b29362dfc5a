/** Reads the embeddings of an engine elsewhere. */
import { z } from 'zod';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import type { EngineEmbeddings } from '../http-engine/engine-dialect.js';
import { withJson } from './with-json.js';

const NO_LIST = 'it is no list of embeddings.';
const OTHER_MODEL = 'it is of another model than the one that was asked.';
const NO_VECTOR = 'it has an embedding that is no vector of numbers.';
const OTHER_COUNT = 'it has another number of embeddings than there are texts.';
const OTHER_LENGTH = 'its embeddings have the wrong number of dimensions.';

/** Engines that do not know `base64` answer with an array of numbers. */
const Vector = z
  .custom<string | number[]>((value) => typeof value === 'string' || Array.isArray(value), NO_VECTOR)
  .transform(vectorOf)
  .refine((vector) => vector.length > 0 && vector.every(Number.isFinite), NO_VECTOR);

function vectorOf(value: string | readonly unknown[]): Float32Array {
  if (typeof value !== 'string') return Float32Array.from(value, (one) => (typeof one === 'number' ? one : Number.NaN));
  const { buffer } = Uint8Array.from(Buffer.from(value, 'base64'));
  return buffer.byteLength % 4 === 0 ? new Float32Array(buffer) : new Float32Array();
}

const Item = z.object({ index: z.int(NO_LIST), embedding: Vector }, NO_LIST);
const Count = z.int().min(0).max(1_000_000_000);

/** An answer must have one vector for each text, and one of the names of the model. */
export interface WantedVectors {
  readonly texts: number;
  readonly dimensions?: number | undefined;
  readonly names: readonly string[];
  /** The answer has its `verbatim`. */
  readonly verbatim: boolean;
}

export const embeddingsAnswer = ({ verbatim, ...wanted }: WantedVectors): z.ZodType<Embeddings> =>
  withJson(vectorsAnswer(wanted), ({ model: _, ...json }) => (verbatim ? json : null), NO_LIST);

const vectorsAnswer = ({ texts, dimensions, names }: Omit<WantedVectors, 'verbatim'>): z.ZodType<Embeddings> =>
  z
    .object(
      {
        object: z.literal('list', NO_LIST),
        model: z.enum(names, OTHER_MODEL),
        data: z
          .array(Item, NO_LIST)
          .length(texts, OTHER_COUNT)
          .refine((data) => new Set(data.map(({ index }) => index)).size === data.length, OTHER_COUNT)
          .refine((data) => data.every(({ index }) => index >= 0 && index < data.length), OTHER_COUNT),
        usage: z
          .object({ prompt_tokens: Count })
          .transform(({ prompt_tokens }) => prompt_tokens)
          .nullable()
          .catch(null),
      },
      NO_LIST,
    )
    .transform(({ data, usage }): Embeddings => {
      const inOrder = [...data].sort((a, b) => a.index - b.index);
      return { vectors: inOrder.map(({ embedding }) => embedding), promptTokens: usage };
    })
    .refine(
      ({ vectors }) => vectors.every(({ length }) => length === (dimensions ?? vectors[0]?.length)),
      OTHER_LENGTH,
    );

/** Translates a request. The answer may give the model any of the `names`. */
export function embeddingsOf(
  { texts, dimensions, verbatim }: EmbeddingRequest,
  model: string,
  names: readonly string[],
): EngineEmbeddings {
  const own = { model, input: texts, encoding_format: 'base64', ...(dimensions !== undefined && { dimensions }) };
  const body = verbatim ? { ...verbatim.json, model } : own;
  const wanted = { texts: texts.length, dimensions, names, verbatim: verbatim !== undefined };
  return { path: '/embeddings', body, args: [wanted], answer: embeddingsAnswer(wanted) };
}
