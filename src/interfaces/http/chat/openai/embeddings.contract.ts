import { z } from 'zod';
import { permissions } from '../../../../domain/accounts/permission.js';
import { embeddingLimits } from '../../../../domain/chat/embedding.js';
import { MODEL_LEVELS } from '../../body.js';
import { contractsOf } from '../../contract.js';
import { parsed } from '../../parsed.js';
import { choice, intLike, STORABLE, textLike, wholeNumber } from '../../schemas.js';
import { MODEL, modelField, refuseTooMany, runtimeRefusals, withoutEffect } from '../dialects.js';
import { OPENAI } from './openai-errors.js';
import { refusalOf } from './understood-request.js';

const api = contractsOf('OpenAI');

const { texts, dimensions } = embeddingLimits;

const inputError = `must be a text that is not empty, or an array of 1 to ${texts} such texts; tokens are not supported`;
const Text = z.string({ error: inputError }).min(1, { error: inputError }).meta({ pattern: STORABLE });
const Texts = z.array(Text, { error: inputError }).min(1, { error: inputError }).max(texts, { error: inputError });

const fields = {
  model: modelField,
  input: z.union([Text, Texts], { error: inputError }).meta({
    description: `A text or an array of 1 to ${texts} texts, none empty. Arrays of tokens are not supported.`,
    example: ['a cat', 'a dog'],
  }),
  encoding_format: choice(['float', 'base64'])
    .nullish()
    .describe('`base64`: the numbers as little-endian 32-bit floats. The default is `float`.'),
  dimensions: wholeNumber(1, dimensions)
    .nullish()
    .describe('The length of a vector. Only for models of engines elsewhere that can choose it.'),
  user: withoutEffect,
};

/** A field that is not listed goes to an engine elsewhere as it is. */
const EmbeddingsRequest = z.looseObject(fields).meta({ id: 'OpenAiEmbeddingsRequest' });

const Understood = z.strictObject(fields);

/** Throws UnknownParameter for a field that is not listed. */
export const requireUnderstoodTexts = (json: unknown): void => void parsed(Understood, json, refusalOf);

export type EmbeddingsRequest = z.output<typeof EmbeddingsRequest>;

export const createOpenAiEmbeddings = api.post(`${OPENAI}/embeddings`, {
  id: 'createOpenAiEmbeddings',
  summary: 'Make embeddings of texts, in the form of OpenAI',
  description:
    'For programs that expect OpenAI’s API: their base URL is `{base_url}/openai/v1`. The runtime must be ready, and its ' +
    'model must make embeddings: `task` of the runtime is then `embedding`.\n\n' +
    'A text that does not fit the context of the model is refused and never cut. A text has the same vector alone and ' +
    'together with others.',
  access: permissions.chat,
  body: EmbeddingsRequest,
  bodyLimit: 'model',
  mostLevels: MODEL_LEVELS,
  refuseFirst: (json) => refuseTooMany(json, 'input', texts, inputError),
  refusalOf,
  answer: z
    .looseObject({
      object: z.literal('list'),
      data: z.array(
        z.looseObject({
          object: z.literal('embedding'),
          index: intLike(0, 'The number of the text.'),
          embedding: z.union([z.array(z.number()), z.string()]).meta({
            description: 'An array of numbers, or base64 as `encoding_format` asks for.',
            example: [0.12, -0.5],
          }),
        }),
      ),
      model: textLike('prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11', 'As the caller sent it.'),
      usage: z
        .looseObject({ prompt_tokens: intLike(8), total_tokens: intLike(8).optional() })
        .nullish()
        .describe('Zero if an engine elsewhere does not report it.'),
    })
    .meta({ id: 'OpenAiEmbeddings' }),
  answerHeaders: { [MODEL]: 'The registered model that has answered.' },
  refusals: ['not_found', 'unknown_parameter', 'unsupported_parameter', ...runtimeRefusals],
});
