/** Maps requests to OpenAI's API to the engine-neutral chat. */
import type {
  ChatRequest,
  ContentPart,
  RequestMessage,
  ResponseFormat,
  Sampling,
} from '../../../../domain/chat/chat.js';
import { isObject, type Json, type JsonObject } from '../../../../domain/workspace/json.js';
import { given, isText, string } from './json-fields.js';
import type { OpenAiChatRequest } from './openai-request.js';
import { olderCallOf, olderId, toolCallOf, toolsOf } from './tools-mapper.js';
import { requireUnderstood } from './understood-request.js';

/** An engine elsewhere may be asked for more answers than a model of this service. */
export const MOST_CHOICES = 128;

/**
 * Returns the request with everything of it that is understood. Leaves out what has a wrong form:
 * `requireUnderstood` refuses it, unless an engine gets the request verbatim.
 */
export function chatRequestOf(body: OpenAiChatRequest): ChatRequest {
  const json = body as unknown as JsonObject;
  const tokenLimits = [json.max_tokens, json.max_completion_tokens].filter(isNumber);
  const sampling = samplingOf(json);
  return {
    messages: body.messages.map((message) => messageOf(message as unknown as JsonObject)),
    maxTokens: tokenLimits.length > 0 ? Math.min(...tokenLimits) : null,
    cutToContext: true,
    temperature: isNumber(json.temperature) ? json.temperature : 0,
    ...toolsOf(json),
    ...given({
      reasoningEffort: string(json.reasoning_effort),
      responseFormat: formatOf(json.response_format),
    }),
    ...(isNumber(json.n) && json.n > 1 && { choices: Math.min(Math.trunc(json.n), MOST_CHOICES) }),
    ...(Object.keys(sampling).length > 0 && { sampling }),
    ...(isObject(json.chat_template_kwargs) && { templateFields: json.chat_template_kwargs }),
    verbatim: {
      dialect: 'openai',
      json,
      wantsUsage: body.stream_options?.include_usage === true,
      requireUnderstood: () => requireUnderstood(json),
    },
  };
}

export function samplingOf(json: JsonObject): Sampling {
  const stops = [json.stop ?? []].flat().filter(isText);
  const { logit_bias: bias } = json;
  return given({
    topP: number(json.top_p),
    topK: isNumber(json.top_k) && json.top_k > 0 ? json.top_k : undefined,
    minP: number(json.min_p),
    repetitionPenalty: number(json.repetition_penalty),
    seed: number(json.seed),
    stop: stops.length > 0 ? stops : undefined,
    presencePenalty: number(json.presence_penalty),
    frequencyPenalty: number(json.frequency_penalty),
    logitBias: isObject(bias) ? (bias as Readonly<Record<string, number>>) : undefined,
    topLogprobs: json.logprobs === true ? (number(json.top_logprobs) ?? 0) : undefined,
  });
}

const roles: Readonly<Record<string, RequestMessage['role']>> = {
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

function messageOf(json: JsonObject): RequestMessage {
  const { role, content, name, tool_calls: calls, tool_call_id: toolCallId, refusal } = json;
  return {
    role: (isText(role) ? roles[role] : undefined) ?? 'user',
    content: contentText(content),
    ...given({
      parts: partsOf(content),
      name: string(name),
      toolCalls: Array.isArray(calls) ? calls.flatMap(toolCallOf) : olderCallOf(json.function_call),
      toolCallId: role === 'function' && isText(name) ? olderId(name) : string(toolCallId),
      refusal: string(refusal),
      reasoning: string(json.reasoning_content),
    }),
  };
}

/** Returns the text of a message. Joins its text parts without a separator. */
function contentText(content: Json | undefined): string {
  if (!Array.isArray(content)) return string(content) ?? '';
  return content.map((part) => (isObject(part) && part.type === 'text' ? (string(part.text) ?? '') : '')).join('');
}

/** Returns undefined for a content that is only text. */
function partsOf(content: Json | undefined): ContentPart[] | undefined {
  if (content === undefined || content === null) return [];
  if (!Array.isArray(content) || content.every((part) => isObject(part) && part.type === 'text')) return undefined;
  return content.flatMap(partOf);
}

function partOf(part: Json): ContentPart[] {
  if (!isObject(part)) return [];
  if (part.type === 'text' && isText(part.text)) return [{ text: part.text }];
  const { image_url: image } = part;
  return isObject(image) && isText(image.url) ? [{ imageUrl: image.url }] : [];
}

function formatOf(format: Json | undefined): ResponseFormat | undefined {
  if (!isObject(format)) return undefined;
  const { type, schema: plain, json_schema: named } = format;
  if (type === 'json_object')
    return isObject(plain) ? { json: 'schema', name: 'answer', schema: plain } : { json: 'object' };
  if (type !== 'json_schema' || !isObject(named) || !isObject(named.schema)) return undefined;
  const { name, description, schema, strict } = named;
  const fields = { description: string(description), strict: typeof strict === 'boolean' ? strict : undefined };
  return { json: 'schema', name: string(name) ?? '', schema, ...given(fields) };
}

const isNumber = (json: Json | undefined): json is number => typeof json === 'number';
const number = (json: Json | undefined) => (isNumber(json) ? json : undefined);
