import { z } from 'zod';
import { permissions } from '../../../domain/accounts/permission.js';
import { embeddingLimits } from '../../../domain/chat/embedding.js';
import { UnknownParameter } from '../../../domain/chat/errors.js';
import { type DomainError, InvalidRequest } from '../../../domain/shared/errors.js';
import { contractsOf } from '../contract.js';
import { OPENAI } from '../openai-errors.js';
import { AnyJson, choice, id, intLike, namedObject, STORABLE, text, wholeNumber } from '../schemas.js';
import { runtimeRefusals } from './completions.contract.js';

const api = contractsOf('OpenAI');

const { texts, dimensions } = embeddingLimits;

const wrong = `must be a text that is not empty, or an array of 1 to ${texts} such texts; tokens are not supported`;
const Text = z.string({ error: wrong }).min(1, { error: wrong }).meta({ pattern: STORABLE });

const EmbeddingsRequest = z
  .strictObject({
    model: text().meta({
      description: 'The id of a project of your team, or its name if no other project of the team has it.',
      example: 'prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11',
    }),
    input: z
      .union([Text, z.array(Text, { error: wrong }).min(1, { error: wrong }).max(texts, { error: wrong })], {
        error: wrong,
      })
      .meta({
        description: `A text or an array of 1 to ${texts} texts, none empty. Arrays of tokens are not supported.`,
        example: ['a cat', 'a dog'],
      }),
    encoding_format: choice(['float', 'base64'])
      .nullish()
      .describe('`base64`: the numbers as little-endian 32-bit floats. The default is `float`.'),
    dimensions: wholeNumber(1, dimensions)
      .nullish()
      .describe('The length of a vector. Only for models of engines elsewhere that can choose it.'),
    user: AnyJson.optional().describe('Accepted without effect.'),
  })
  .meta({ id: 'OpenAiEmbeddingsRequest' });

export type EmbeddingsRequest = z.output<typeof EmbeddingsRequest>;

/** Refuses too many texts before the schema checks each of them. */
function refuseFirst(json: unknown): DomainError | null {
  const { input } = (json ?? {}) as { input?: unknown };
  const tooMany = Array.isArray(input) && input.length > texts;
  return tooMany ? new InvalidRequest([{ path: 'input', message: wrong }]) : null;
}

const unknownParameter = ([first]: readonly z.core.$ZodIssue[]): DomainError | null =>
  first?.code === 'unrecognized_keys' ? new UnknownParameter([...first.path, first.keys[0]].join('.')) : null;

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
  bodyLimit: 'chat',
  refuseFirst,
  refusalOf: unknownParameter,
  answer: namedObject('OpenAiEmbeddings', {
    object: z.literal('list'),
    data: z.array(
      z.object({
        object: z.literal('embedding'),
        index: intLike(0, 'The number of the text.'),
        embedding: z.union([z.array(z.number()), z.string()]).meta({
          description: 'An array of numbers, or base64 as `encoding_format` asks for.',
          example: [0.12, -0.5],
        }),
      }),
    ),
    model: id('prj').describe('The id of the project.'),
    usage: z
      .object({ prompt_tokens: intLike(8), total_tokens: intLike(8) })
      .describe('Zero if an engine elsewhere does not report it.'),
  }),
  refusals: ['not_found', 'unknown_parameter', 'unsupported_parameter', ...runtimeRefusals],
});
