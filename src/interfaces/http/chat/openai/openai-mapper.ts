/** Maps the JSON of OpenAI's API to the engine-neutral chat, and its answers back. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { z } from 'zod';
import type {
  ChatRequest,
  Completion,
  CompletionPart,
  ContentPart,
  Passthrough,
  RequestMessage,
  ResponseFormat,
  Sampling,
  TokenLogprob,
  Tool,
  ToolCall,
  ToolCallPart,
  ToolChoice,
} from '../../../../domain/chat/chat.js';
import { isObject, type Json, type JsonObject } from '../../../../domain/workspace/json.js';
import { usageAnswer } from '../dialects.js';
import { isGiven, type OpenAiChatRequest, type OpenAiMessage, textOf } from './openai-request.js';

/** Returns the request in the form of the domain, with only the fields that the caller sent. */
export function chatRequestOf(body: OpenAiChatRequest): ChatRequest {
  const { max_tokens, max_completion_tokens, temperature, tools, tool_choice, response_format } = body;
  const tokenLimits = [max_tokens, max_completion_tokens].filter(isGiven);
  const stopTexts = [body.stop ?? []].flat();
  const sampling: Sampling = withoutNulls({
    topP: body.top_p,
    seed: body.seed,
    stop: stopTexts.length > 0 ? stopTexts : null,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    logitBias: body.logit_bias,
    topLogprobs: body.logprobs ? (body.top_logprobs ?? 0) : null,
  });
  return {
    messages: body.messages.map(messageOf),
    maxTokens: tokenLimits.length > 0 ? Math.min(...tokenLimits) : null,
    cutToContext: true,
    temperature: temperature ?? 0,
    ...withoutNulls({ tools: tools?.map(toolOf), toolChoice: isGiven(tool_choice) ? toolChoiceOf(tool_choice) : null }),
    ...(Object.keys(sampling).length > 0 && { sampling }),
    ...withoutNulls({ responseFormat: formatOf(response_format) }),
  };
}

function messageOf({ role, content, name, tool_calls, tool_call_id, refusal }: OpenAiMessage): RequestMessage {
  return {
    role: role === 'developer' ? 'system' : role,
    content: textOf(content),
    ...withoutNulls({
      parts: partsOf(content),
      name,
      toolCalls: tool_calls?.map(toolCallOf),
      toolCallId: tool_call_id,
      refusal,
    }),
  };
}

/** Returns null for a content that is only text. */
function partsOf(content: OpenAiMessage['content']): ContentPart[] | null {
  if (!isGiven(content)) return [];
  return Array.isArray(content) && content.some(({ type }) => type !== 'text') ? content.map(partOf) : null;
}

const Part = z.union([
  z.strictObject({ type: z.literal('text'), text: z.string() }).transform(({ text }) => ({ text })),
  z
    .strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: z.string() }) })
    .transform(({ image_url }) => ({ imageUrl: image_url.url })),
]);

const partOf = (part: unknown): ContentPart => Part.safeParse(part).data ?? passthrough(part as Json);

const FunctionTool = z.looseObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: z.string(),
    description: z.string().exactOptional(),
    parameters: z.custom<JsonObject>((value) => isObject(value as Json)).exactOptional(),
    strict: z.boolean().exactOptional(),
  }),
});

function toolOf(json: JsonObject): Tool | Passthrough {
  const { data } = FunctionTool.safeParse(json);
  if (!data) return passthrough(json);
  const { type: _, function: tool, ...more } = data;
  return { ...tool, ...moreOf(more) };
}

const NamedTool = z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) });

function toolChoiceOf(json: Json): ToolChoice {
  if (json === 'auto' || json === 'none' || json === 'required') return json;
  const { data } = NamedTool.safeParse(json);
  return data ? { tool: data.function.name } : passthrough(json);
}

const FunctionCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});

function toolCallOf(json: JsonObject): ToolCall | Passthrough {
  const { data } = FunctionCall.safeParse(json);
  if (!data) return passthrough(json);
  const { id, type: _, function: called, ...more } = data;
  return { id, ...called, ...moreOf(more) };
}

const passthrough = (json: Json): Passthrough => ({ dialect: 'openai', json });

const moreOf = (fields: object) => (Object.keys(fields).length > 0 ? { more: passthrough(fields as JsonObject) } : {});

function formatOf(format: OpenAiChatRequest['response_format']): ResponseFormat | null {
  if (format?.type === 'json_object') return { json: 'object' };
  if (format?.type !== 'json_schema') return null;
  const { name, description, schema, strict } = format.json_schema;
  return { json: 'schema', name, schema, ...withoutNulls({ description, strict }) };
}

type WithoutNulls<T> = { [Name in keyof T]?: NonNullable<T[Name]> };

/** Returns the fields that are neither null nor undefined. */
const withoutNulls = <T extends object>(fields: T): WithoutNulls<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value))) as WithoutNulls<T>;

/** Leaves out the log probabilities. `completionText` adds them. */
export const choiceOf = ({ text, toolCalls = [], finishReason }: Completion) => ({
  index: 0,
  message: {
    role: 'assistant' as const,
    content: text === '' && toolCalls.length > 0 ? null : text,
    refusal: null,
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toolCallJson) }),
  },
  logprobs: null,
  finish_reason: finishReason,
});

/** After this many tokens have been written as text, other requests can run. */
const TOKENS_PER_STEP = 16;

/** Yields the JSON of an answer with log probabilities piece by piece. As one text it could delay other requests. */
export async function* completionText(answer: object, completion: Completion): AsyncGenerator<string> {
  const { logprobs: _, ...choice } = choiceOf(completion);
  const head = `${JSON.stringify(answer).slice(0, -1)},"choices":[${JSON.stringify(choice).slice(0, -1)}`;
  let text = `${head},"logprobs":{"content":[`;
  let tokens = 0;
  for (const token of completion.logprobs ?? []) {
    text += (tokens++ > 0 ? ',' : '') + JSON.stringify(tokenAnswer(token));
    if (tokens % TOKENS_PER_STEP > 0) continue;
    yield text;
    text = '';
    await yieldToEventLoop();
  }
  yield `${text}],"refusal":null}}]}`;
}

function toolCallJson(call: ToolCall | ToolCallPart | Passthrough): Json {
  if ('json' in call) return call.json;
  const { id, name, arguments: text, more, ...index } = call;
  return {
    ...index,
    ...(id !== undefined && { id, type: 'function' }),
    function: { ...(name !== undefined && { name }), arguments: text },
    ...(more?.json as JsonObject | undefined),
  };
}

const logprobsAnswer = (logprobs: readonly TokenLogprob[] | undefined) =>
  logprobs ? { content: logprobs.map(tokenAnswer), refusal: null } : null;

const tokenAnswer = ({ token, bytes, logprob, top }: TokenLogprob) => ({
  token,
  bytes: [...bytes],
  logprob,
  top_logprobs: top.map((one) => ({ token: one.token, bytes: [...one.bytes], logprob: one.logprob })),
});

interface ChunkHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly includesUsage: boolean;
}

/** Yields the events of an answer as texts. The last text has the end of the answer, the usage and `[DONE]`. */
export async function* chatEvents(
  parts: AsyncIterable<CompletionPart>,
  { id, created, model, includesUsage }: ChunkHead,
): AsyncGenerator<string, void> {
  // Only the middle of a chunk changes. The rest is built once, because thousands of chunks are sent in a second.
  const head = `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1)},"choices":[`;
  const tail = includesUsage ? '],"usage":null}\n\n' : ']}\n\n';
  const chunk = (delta: string, finish: string | null, logprobs?: readonly TokenLogprob[]) => {
    const logprobsText = JSON.stringify(logprobsAnswer(logprobs));
    return `${head}{"index":0,"delta":${delta},"logprobs":${logprobsText},"finish_reason":${JSON.stringify(finish)}}${tail}`;
  };
  const last = ({ usage, finishReason }: NonNullable<CompletionPart['end']>) => {
    const usageEvent = includesUsage ? `${head}],"usage":${JSON.stringify(usageAnswer(usage))}}\n\n` : '';
    return `${chunk('{}', finishReason)}${usageEvent}data: [DONE]\n\n`;
  };
  let first = chunk('{"role":"assistant","content":""}', null);
  for await (const part of parts) {
    const delta = deltaOf(part);
    const event = `${first}${delta ? chunk(delta, null, part.logprobs) : ''}${part.end ? last(part.end) : ''}`;
    first = '';
    if (event !== '') yield event;
  }
}

/** Returns the JSON that a part adds to the message, or null if it adds nothing. */
function deltaOf({ text, logprobs = [], toolCalls = [] }: CompletionPart): string | null {
  const content = text !== '' || logprobs.length > 0 ? `"content":${JSON.stringify(text)}` : '';
  const calls = toolCalls.length > 0 ? `"tool_calls":${JSON.stringify(toolCalls.map(toolCallJson))}` : '';
  const fields = [content, calls].filter(Boolean).join(',');
  return fields === '' ? null : `{${fields}}`;
}
