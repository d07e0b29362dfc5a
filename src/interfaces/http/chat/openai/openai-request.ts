import { z } from 'zod';
import { isObject, type Json } from '../../../../domain/workspace/json.js';
import { fitsFormat, formatMessages } from '../../../../domain/workspace/spec-format.js';
import { text, truth, wanted } from '../../schemas.js';
import { modelField } from '../dialects.js';
import { Message, understood } from './understood-request.js';

const messagesError = 'must be an array with at least one message';

const streamField = truth()
  .nullish()
  .describe('Answers server-sent events. The data of each is a `ChatCompletionChunk`.');

const STRICT_SCHEMA = ['response_format', 'json_schema', 'schema'];

/** Checks what every engine needs. The rest goes to an engine elsewhere as it is. */
export const OpenAiChatRequest = z
  .looseObject({
    model: modelField,
    messages: z
      .array(z.looseObject({ role: text() }, { error: wanted('a JSON object') }), { error: messagesError })
      .min(1, { error: messagesError }),
    stream: streamField,
    stream_options: z.looseObject({}, { error: wanted('an object') }).nullish(),
  })
  .superRefine((request, { addIssue }) => {
    const schema = strictSchemaOf(request.response_format as Json | undefined);
    if (isObject(schema) && !fitsFormat(schema))
      addIssue({ code: 'custom', path: STRICT_SCHEMA, message: formatMessages.length });
  });

export type OpenAiChatRequest = z.output<typeof OpenAiChatRequest>;

function strictSchemaOf(format: Json | undefined): Json | undefined {
  const named = isObject(format) ? format.json_schema : undefined;
  return isObject(named) && named.strict === true ? named.schema : undefined;
}

/** Describes a request. A field that is not listed goes to an engine elsewhere as it is. */
export const DocumentedChatRequest = z
  .looseObject({
    model: modelField,
    messages: z
      .array(Message)
      .min(1)
      .meta({ example: [{ role: 'user', content: 'What is the capital of France?' }] }),
    stream: streamField,
    ...understood,
  })
  .meta({ id: 'OpenAiChatRequest' });
