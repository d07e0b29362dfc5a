import { z } from 'zod';
import { isObject, type Json } from '../../../../domain/workspace/json.js';
import { fitsFormat, formatLimits, formatMessages } from '../../../../domain/workspace/spec-format.js';
import { AnyJson, AnyObject, choice, text, truth, wanted, wholeNumber } from '../../schemas.js';
import { MOST_TOP_LOGPROBS, modelField, withoutEffect } from '../dialects.js';
import { understood } from '../openai/understood-request.js';

const { temperature, top_p, top_k, min_p, repetition_penalty, seed, stop } = understood;
const { presence_penalty, frequency_penalty, logit_bias, chat_template_kwargs } = understood;

const passedOn = AnyJson.optional().describe('An engine elsewhere gets it. Without effect for other models.');

/** Accepts null, which some programs send for each field that they do not use. */
const notSupported = z.null({ error: 'is not supported' }).optional().describe('Not supported.');

const Item = z
  .looseObject({ type: text().optional(), role: text().optional() }, { error: wanted('an object') })
  .meta({ id: 'ResponseInputItem', example: { role: 'user', content: 'What is the capital of France?' } });

const Schema = AnyObject.refine(fitsFormat, { error: formatMessages.length });

const Format = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('text') }).meta({ id: 'ResponseTextFormat' }),
    z.strictObject({ type: z.literal('json_object') }).meta({ id: 'ResponseJsonObjectFormat' }),
    z
      .strictObject({
        type: z.literal('json_schema'),
        name: z
          .string({ error: wanted('a string') })
          .regex(formatLimits.name, { error: formatMessages.name })
          .meta({ example: 'place' }),
        description: text().nullish(),
        schema: Schema.meta({ example: { type: 'object', properties: { city: { type: 'string' } } } }),
        strict: truth().nullish(),
      })
      .meta({ id: 'ResponseJsonSchemaFormat' }),
  ],
  { error: ({ code }) => (code === 'invalid_union' ? formatMessages.type : 'must be an object') },
);

const Tool = z
  .looseObject({ type: text() }, { error: wanted('an object with a type') })
  .superRefine(({ type, name, parameters }, { addIssue }) => {
    const refuse = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message });
    if (type !== 'function') return;
    if (typeof name !== 'string' || name === '') refuse('name', 'must be the name of the function');
    if (parameters !== undefined && parameters !== null && !isObject(parameters as Json))
      refuse('parameters', 'must be a JSON schema');
  })
  .meta({ id: 'ResponseTool', example: { type: 'function', name: 'get_weather', parameters: { type: 'object' } } });

const toolChoice = 'must be auto, none, required, or an object with a type';
const ToolChoice = z.union([z.enum(['auto', 'none', 'required']), z.looseObject({ type: text() })], {
  error: toolChoice,
});

const input = 'must be a text or an array of items';

/** The fields that the service knows. Others go to an engine elsewhere as they are. */
export const known = {
  model: modelField,
  input: z
    .union([text(), z.array(Item), z.null()], { error: input })
    .optional()
    .meta({
      description:
        'A text, or items: messages, `function_call`, `function_call_output`, `reasoning` and `item_reference`. Required ' +
        'without `previous_response_id`.',
      example: 'What is the capital of France?',
    }),
  instructions: text().nullish().describe('A system message before all others, for this answer only.'),
  previous_response_id: text().nullish().describe('A stored response of your own that this request continues.'),
  text: z
    .looseObject({ format: Format.nullish(), verbosity: passedOn }, { error: wanted('an object') })
    .nullish()
    .describe('The form of the answer. The default is any text.'),
  tools: z
    .array(Tool, { error: wanted('an array') })
    .nullish()
    .describe('Functions. Tools of other types are left out.'),
  tool_choice: ToolChoice.nullish(),
  parallel_tool_calls: truth().nullish(),
  reasoning: z
    .looseObject({ effort: text().nullish(), summary: text().nullish() }, { error: wanted('an object') })
    .nullish()
    .describe(
      'With `summary`, what the model thinks is the summary of a reasoning item. Without it, it is the content.',
    ),
  truncation: choice(['auto', 'disabled'])
    .nullish()
    .describe(
      'With `auto`, the oldest turns are left out of an input that is longer than the context of an ONNX model. System ' +
        'messages and the last turn stay. An engine elsewhere cuts nothing. The default is `disabled`.',
    ),
  conversation: notSupported,
  stream: truth().nullish().describe('Answers server-sent events. The data of each is a `ResponseEvent`.'),
  stream_options: z
    .looseObject({}, { error: wanted('an object') })
    .nullish()
    .describe('Accepted without effect.'),
  store: truth().nullish().describe('If false, nothing of the response is stored. The default is true.'),
  background: truth().nullish().describe('Answers at once. The response is then made in the background.'),
  include: z
    .array(text(), { error: wanted('an array') })
    .nullish()
    .describe('`message.output_text.logprobs` adds log probabilities. Others are without effect.'),
  max_output_tokens: wholeNumber(1, Number.MAX_SAFE_INTEGER).nullish(),
  top_logprobs: wholeNumber(0, MOST_TOP_LOGPROBS).nullish(),
  metadata: AnyObject.nullish().describe('Is stored with the response.'),
  ...{ temperature, top_p, top_k, min_p, repetition_penalty, seed, stop },
  ...{ presence_penalty, frequency_penalty, logit_bias, chat_template_kwargs },
  ...{ user: passedOn, safety_identifier: passedOn, prompt_cache_key: passedOn },
  ...{ prompt_cache_retention: passedOn, prompt_cache_options: passedOn, service_tier: passedOn },
  ...{ client_metadata: withoutEffect, max_tool_calls: withoutEffect },
  ...{ context_management: withoutEffect, moderation: withoutEffect, personality: withoutEffect },
  prompt: notSupported,
};

type Refuse = (path: string, message: string) => void;

const requireInput = (
  { input, previous_response_id }: { input?: unknown; previous_response_id?: unknown },
  refuse: Refuse,
) => {
  const isEmpty = input === undefined || input === null || (Array.isArray(input) && input.length === 0);
  if (isEmpty && typeof previous_response_id !== 'string') refuse('input', 'is required without previous_response_id');
};

export const ResponsesRequest = z
  .looseObject(known)
  .superRefine((request, { addIssue }) => {
    const refuse: Refuse = (path, message) => addIssue({ code: 'custom', path: [path], message });
    requireInput(request, refuse);
    if (request.background && request.store === false) refuse('background', 'needs a response that is stored');
  })
  .meta({ id: 'ResponsesRequest' });
export type ResponsesRequest = z.output<typeof ResponsesRequest>;
