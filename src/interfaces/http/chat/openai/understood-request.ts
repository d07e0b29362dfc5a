/** Checks whether the engine-neutral chat understands all of a request to OpenAI's API. */
import { z } from 'zod';
import { chatLimits } from '../../../../domain/chat/chat.js';
import { UnknownParameter, UnsupportedParameter } from '../../../../domain/chat/errors.js';
import type { DomainError } from '../../../../domain/shared/errors.js';
import type { JsonObject } from '../../../../domain/workspace/json.js';
import { fitsFormat, formatLimits, formatMessages } from '../../../../domain/workspace/spec-format.js';
import { parsed } from '../../parsed.js';
import { AnyJson, AnyObject, choice, text, truth, wanted, wholeNumber } from '../../schemas.js';
import { isGiven, MOST_TOP_LOGPROBS, within, withoutEffect } from '../dialects.js';
import { checkTools, EarlierCall, EarlierFunctionCall, toolFields } from './understood-tools.js';

const { temperature, choices } = chatLimits;

const MAX_STOPS = 4;

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

const TextPart = z
  .strictObject({
    type: z.literal('text', { error: wanted('"text"') }),
    text: text(),
    cache_control: AnyJson.optional().describe('Accepted without effect.'),
  })
  .meta({ id: 'ChatTextPart', example: { type: 'text', text: 'What is this?' } });

/** Accepts a part that only an engine elsewhere may understand. */
const OtherPart = z
  .looseObject({ type: text().refine((type) => type !== 'text', { error: 'must not be text', abort: true }) })
  .meta({
    id: 'ChatOtherPart',
    properties: { type: { type: 'string', not: { const: 'text' } } },
    example: { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
  });

const parts = 'must be a text or an array of parts';

const Part = z.union([TextPart, OtherPart], { error: 'must be an object with a type' });

const Content = z.union([text(), z.array(Part).min(1, { error: parts }), z.null()], {
  error: wanted('a text or an array of parts'),
});

/** Accepts null, which some programs send for each field of OpenAI's API that they do not use. */
export const onlyNull = z.null().optional().describe('For engines elsewhere only.');

const sentBack = AnyJson.optional().describe('Libraries send it back with an earlier answer. Accepted without effect.');

export const Message = z
  .strictObject(
    {
      role: choice(roles),
      content: Content.optional(),
      name: text().nullish(),
      tool_calls: z.array(EarlierCall, { error: wanted('an array') }).nullish(),
      tool_call_id: text().nullish(),
      refusal: text().nullish(),
      audio: onlyNull,
      function_call: EarlierFunctionCall.nullish(),
      reasoning_content: text().nullish().describe('The reasoning of an earlier answer.'),
      annotations: sentBack,
      parsed: sentBack,
    },
    { error: wanted('a JSON object') },
  )
  .superRefine(({ role, content, name, tool_calls, tool_call_id, function_call, refusal }, { addIssue }) => {
    const mayBeEmpty = role === 'assistant' && Boolean(tool_calls?.length || function_call || refusal);
    const refuse = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message });
    if (!mayBeEmpty && (content === undefined || content === null)) {
      refuse(
        'content',
        content === null ? 'may be null only for an assistant with tool_calls or a refusal' : 'is required',
      );
    }
    if (role === 'tool' && typeof tool_call_id !== 'string') refuse('tool_call_id', 'is required for the role tool');
    if (role === 'function' && typeof name !== 'string') refuse('name', 'is required for the role function');
  })
  .meta({ id: 'OpenAiChatMessage', example: { role: 'user', content: 'What is the capital of France?' } });

const stops = `must be a text that is not empty, or an array of at most ${MAX_STOPS} such texts`;
const StopText = text().min(1, { error: stops });

const weight = 'must be a number from -100 to 100';
const bias = z.number({ error: weight }).min(-100, { error: weight }).max(100, { error: weight });

export const tokenLimit = wholeNumber(1, Number.MAX_SAFE_INTEGER).nullish();

export const Sampled = {
  temperature: within(0, temperature).describe('The default is 0: the likeliest token is always taken.'),
  top_p: within(0, 1),
  top_k: wholeNumber(-1, Number.MAX_SAFE_INTEGER)
    .nullish()
    .describe('Only so many of the likeliest tokens are drawn. At 0 and -1 all are.'),
  min_p: within(0, 1).describe('Drops tokens with less than this share of the probability of the likeliest one.'),
  repetition_penalty: within(0.01, 10).describe('Above 1, tokens of the prompt and the answer become less likely.'),
  seed: wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    .nullish()
    .describe('The same seed and request give the same answer.'),
  stop: z
    .union([StopText, z.array(StopText, { error: stops }).max(MAX_STOPS, { error: stops }), z.null()], { error: stops })
    .optional()
    .describe('The answer ends before the first of these texts.'),
  presence_penalty: within(-2, 2),
  frequency_penalty: within(-2, 2),
  logit_bias: z
    .record(z.string().regex(/^\d{1,9}$/), bias, {
      error: (issue) => (issue.code === 'invalid_key' ? 'must be the id of a token' : wanted('an object')(issue)),
    })
    .nullish()
    .describe('From -100 to 100, by token id.'),
  logprobs: truth().nullish(),
  top_logprobs: wholeNumber(0, MOST_TOP_LOGPROBS).nullish().describe('Only with `logprobs`.'),
};

const Schema = AnyObject.refine(fitsFormat, { error: formatMessages.length }).meta({
  description: `A JSON schema of at most ${formatLimits.schemaLength} characters.`,
  example: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
});

const SchemaFormat = z.strictObject(
  {
    name: z
      .string({ error: wanted('a string') })
      .regex(formatLimits.name, { error: formatMessages.name })
      .meta({ example: 'place' }),
    description: text().nullish(),
    schema: Schema,
    strict: truth()
      .nullish()
      .describe('An ONNX model always keeps to the schema. The answer of an engine elsewhere is checked.'),
  },
  { error: wanted('an object') },
);

const Format = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('text') }).meta({ id: 'TextFormat' }),
    z.strictObject({ type: z.literal('json_object'), schema: Schema.optional() }).meta({ id: 'JsonObjectFormat' }),
    z.strictObject({ type: z.literal('json_schema'), json_schema: SchemaFormat }).meta({ id: 'JsonSchemaFormat' }),
  ],
  {
    error: ({ code }) => (code === 'invalid_union' ? formatMessages.type : 'must be an object'),
  },
);

const TEXT_ONLY = 'can only be ["text"] for this model';

/** The fields that the models of this service understand, besides `model`, `messages` and `stream`. */
export const understood = {
  max_completion_tokens: tokenLimit.describe('A number above the rest of the context is lowered to the rest.'),
  max_tokens: tokenLimit.describe('The same as `max_completion_tokens`. The smaller of the two counts.'),
  ...Sampled,
  n: wholeNumber(1, choices).nullish().describe('The number of answers.'),
  stream_options: z
    .strictObject(
      { include_usage: truth().nullish(), include_obfuscation: truth().nullish() },
      { error: wanted('an object') },
    )
    .nullish()
    .describe('Only with `stream`.'),
  response_format: Format.nullish().describe('The form of the answer. The default is any text.'),
  ...toolFields,
  modalities: z
    .array(z.literal('text', { error: TEXT_ONLY }), { error: TEXT_ONLY })
    .min(1, { error: TEXT_ONLY })
    .max(1, { error: TEXT_ONLY })
    .nullish(),
  user: withoutEffect,
  metadata: withoutEffect,
  store: withoutEffect,
  service_tier: withoutEffect,
  prompt_cache_key: withoutEffect,
  prompt_cache_retention: withoutEffect,
  prompt_cache_options: withoutEffect,
  prediction: withoutEffect,
  safety_identifier: withoutEffect,
  reasoning_effort: AnyJson.optional().describe('Chat templates that know it get it.'),
  chat_template_kwargs: AnyObject.nullish().describe('Variables for the chat template of the model.'),
  verbosity: withoutEffect,
  audio: onlyNull,
  web_search_options: onlyNull,
  moderation: onlyNull,
};

const Understood = z
  .strictObject({ model: AnyJson, messages: z.array(Message), stream: AnyJson.optional(), ...understood })
  .superRefine(({ logprobs, top_logprobs, stream, stream_options, ...others }, { addIssue }) => {
    const refuse = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message });
    checkTools(others, (path, message) => addIssue({ code: 'custom', path, message }));
    if (isGiven(top_logprobs) && !logprobs) refuse('top_logprobs', 'is only for requests with logprobs');
    if (isGiven(stream_options) && !stream) refuse('stream_options', 'is only for requests with stream');
  });

/** Throws InvalidRequest, UnknownParameter, UnsupportedParameter for what the engine-neutral chat lacks. */
export const requireUnderstood = (json: JsonObject): void => void parsed(Understood, json, refusalOf);

/** The fields of OpenAI's API of which a model of this service can honour one value only. */
const ONE_VALUE = new Set(['modalities', 'best_of']);

/** Returns the error if the first issue is an unknown or unsupported field, and null for any other issue. */
export function refusalOf([first]: readonly z.core.$ZodIssue[]): DomainError | null {
  const name = String(first?.path[0]);
  if (first && ONE_VALUE.has(name)) return new UnsupportedParameter(name, first.message);
  if (first?.code === 'unrecognized_keys') return new UnknownParameter([...first.path, first.keys[0]].join('.'));
  return first?.code === 'invalid_type' && first.expected === 'null'
    ? new UnsupportedParameter(first.path.join('.'), 'is not supported by this model')
    : null;
}
