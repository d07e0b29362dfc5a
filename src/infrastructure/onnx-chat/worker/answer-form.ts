/** Tells which form an answer must have. */
import type { ChatRequest } from '../../../domain/chat/chat.js';
import type { JsonObject } from '../../../domain/workspace/json.js';
import type { AnswerForm, Calls, PlacedSchema } from './grammar/answer-grammar.js';
import type { CallForm } from './tools/call-form.js';
import type { CallStart } from './tools/call-reader.js';
import { usedTools } from './tools/template-json.js';

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {}, additionalProperties: false };

type Request = Pick<ChatRequest, 'responseFormat' | 'tools' | 'toolChoice' | 'parallelToolCalls'>;

/** Returns the form of the answer, or null if it may be any text. `callForm` is null if the model knows no tools. */
export function answerFormOf(request: Request, callForm: CallForm | null): AnswerForm | null {
  const text = textOf(request.responseFormat);
  const calls = callForm && callsOf(request, callForm);
  if (calls) return { path: text?.path ?? 'tools', calls, ...(text && !calls.isRequired && { text }) };
  return text ? { path: text.path, text } : null;
}

/** Returns how the decoder finds the calls in an answer of this form. */
export function callStartOf({ text, calls }: AnswerForm): CallStart | undefined {
  if (!calls) return undefined;
  const { form, tools, isRequired } = calls;
  return { names: tools.map(({ name }) => name), isAnywhere: form.followsText && !text && !isRequired };
}

function textOf(format: ChatRequest['responseFormat']): PlacedSchema | null {
  if (!format) return null;
  if (format.json === 'object') return { schema: { type: 'object' }, path: 'response_format' };
  return { schema: format.schema, path: format.place ?? 'response_format.json_schema.schema' };
}

function callsOf(request: Request, form: CallForm): Calls | null {
  const { toolChoice = 'auto', parallelToolCalls = true } = request;
  const placed = usedTools(request).map(({ name, parameters = NO_ARGUMENTS, place }, i) => {
    return { name, schema: parameters, path: place ?? `tools.${i}.function.parameters` };
  });
  const isNamed = typeof toolChoice === 'object';
  const tools = isNamed ? placed.filter(({ name }) => name === toolChoice.tool) : placed;
  if (tools.length === 0) return null;
  return { form, tools, isRequired: toolChoice !== 'auto', areSeveral: parallelToolCalls && !isNamed };
}
