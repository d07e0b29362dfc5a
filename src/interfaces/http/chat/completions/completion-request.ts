/** Describes requests to complete a text, in the form of OpenAI. */
import { z } from 'zod';
import type { ChatRequest, Sampling } from '../../../../domain/chat/chat.js';
import type { Json, JsonObject } from '../../../../domain/workspace/json.js';
import { parsed } from '../../parsed.js';
import { AnyJson, STORABLE, truth, wanted, wholeNumber } from '../../schemas.js';
import { modelField } from '../dialects.js';
import { MOST_CHOICES, samplingOf } from '../openai/request-mapper.js';
import { onlyNull, refusalOf, Sampled, tokenLimit, understood } from '../openai/understood-request.js';

const MOST_TEXTS = 16;
const MOST_LOGPROBS = 5;
/** OpenAI documents this default. */
const DEFAULT_TOKENS = 16;

const promptError =
  `must be a text that is not empty, or an array of 1 to ${MOST_TEXTS} such texts; tokens are not supported by this ` +
  'model: send the text itself';
const Prompt = z.string({ error: promptError }).min(1, { error: promptError }).meta({ pattern: STORABLE });
const Prompts = z.array(Prompt, { error: promptError }).min(1, { error: promptError });

const { logprobs: _logprobs, top_logprobs: _topLogprobs, ...sampled } = Sampled;
const { n, stream_options, user, store, metadata, service_tier, safety_identifier, prompt_cache_key } = understood;

/** The fields that the models of this service understand, besides `model` and `stream`. */
const fields = {
  prompt: z.union([Prompt, Prompts.max(MOST_TEXTS, { error: promptError })], { error: promptError }).meta({
    description: `A text, or an array of 1 to ${MOST_TEXTS} texts. Special tokens count as such, and no chat template is used.`,
    example: 'The capital of France is',
  }),
  max_tokens: tokenLimit.describe(
    `The default is ${DEFAULT_TOKENS}. A number above the rest of the context is lowered to it.`,
  ),
  ...sampled,
  n,
  best_of: wholeNumber(1, 1).nullish(),
  echo: truth().nullish().describe('The answer begins with the prompt. Not together with `logprobs`.'),
  logprobs: wholeNumber(0, MOST_LOGPROBS).nullish().describe('How many likeliest tokens are reported at each place.'),
  suffix: onlyNull,
  stream_options,
  user,
  store,
  metadata,
  service_tier,
  safety_identifier,
  prompt_cache_key,
};

const stream = truth().nullish().describe('Answers server-sent events. The data of each is an `OpenAiCompletion`.');

/** Checks what every engine needs. The rest goes to an engine elsewhere as it is. */
export const CompletionRequest = z.looseObject({
  model: modelField,
  prompt: AnyJson.optional(),
  stream,
  stream_options: z.looseObject({}, { error: wanted('an object') }).nullish(),
});
export type CompletionRequest = z.output<typeof CompletionRequest>;

/** Describes a request. A field that is not listed goes to an engine elsewhere as it is. */
export const DocumentedCompletionRequest = z
  .looseObject({ model: modelField, stream, ...fields })
  .meta({ id: 'OpenAiCompletionRequest' });

const Understood = z
  .strictObject({ model: AnyJson, stream: AnyJson.optional(), ...fields })
  .superRefine(({ echo, logprobs, stream: streams, stream_options: options }, { addIssue }) => {
    const refuse = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message });
    if (echo && typeof logprobs === 'number') refuse('echo', 'is not supported together with logprobs');
    if (options && !streams) refuse('stream_options', 'is only for requests with stream');
  });

/** Returns the texts of a prompt. A prompt of another form has none. */
export const textsOf = (prompt: Json | undefined): string[] =>
  [prompt ?? []].flat().filter((one): one is string => typeof one === 'string');

const within = (value: Json | undefined, most: number) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most ? (value as number) : null;

/** Leaves out what has a wrong form: `requireUnderstood` refuses it, unless an engine gets the request verbatim. */
export function textRequestOf(body: CompletionRequest): ChatRequest {
  const json = body as unknown as JsonObject;
  const { max_tokens: maxTokens, temperature, n: choices, logprobs } = json;
  const sampling: Sampling = {
    ...samplingOf({ ...json, logprobs: null }),
    ...(typeof logprobs === 'number' && { topLogprobs: logprobs }),
  };
  const several = within(choices, MOST_CHOICES);
  return {
    messages: [],
    texts: textsOf(json.prompt),
    maxTokens: within(maxTokens, Number.MAX_SAFE_INTEGER) ?? DEFAULT_TOKENS,
    cutToContext: true,
    temperature: typeof temperature === 'number' ? temperature : 0,
    ...(several !== null && several > 1 && { choices: several }),
    ...(Object.keys(sampling).length > 0 && { sampling }),
    verbatim: {
      dialect: 'openai',
      json,
      wantsUsage: body.stream_options?.include_usage === true,
      requireUnderstood: () => void parsed(Understood, json, refusalOf),
    },
  };
}
