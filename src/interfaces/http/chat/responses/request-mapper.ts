/** Maps requests to the Responses API to the engine-neutral chat. */
import type { ChatRequest, ResponseFormat, Sampling, Tool, ToolChoice } from '../../../../domain/chat/chat.js';
import { InvalidRequest } from '../../../../domain/shared/errors.js';
import { isObject, type Json, type JsonObject } from '../../../../domain/workspace/json.js';
import { given } from '../openai/json-fields.js';
import { type KnownItems, messagesOf } from './items.js';
import { known, type ResponsesRequest } from './responses-request.js';

const LOGPROBS = 'message.output_text.logprobs';

/** The fields for engines elsewhere that have the same names there. */
const passed = [
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
] as const;

/** Returns the request with only the messages of its own input. Throws InvalidRequest, UnsupportedParameter. */
export function chatRequestOf(body: ResponsesRequest, items: KnownItems): ChatRequest {
  const json = body as unknown as JsonObject;
  const tools = toolsOf(body);
  const choice = choiceOf(json.tool_choice, tools);
  const sampling = samplingOf(body);
  const passedOn = given({
    ...Object.fromEntries(passed.map((name) => [name, json[name] ?? undefined])),
    verbosity: (body.text?.verbosity as Json | undefined) ?? undefined,
  }) as JsonObject;
  const unknown = Object.fromEntries(Object.entries(json).filter(([name]) => !Object.hasOwn(known, name)));
  return {
    messages: messagesOf(json.input, items),
    maxTokens: body.max_output_tokens ?? null,
    cutToContext: true,
    ...(body.truncation === 'auto' && { leaveOutOldest: true }),
    temperature: body.temperature ?? null,
    ...given({
      tools: tools.length > 0 ? (choice.tools ?? tools) : undefined,
      toolChoice: tools.length > 0 ? choice.choice : undefined,
      parallelToolCalls: tools.length > 0 && body.parallel_tool_calls === false ? false : undefined,
      reasoningEffort: body.reasoning?.effort ?? undefined,
      responseFormat: formatOf(body.text?.format),
      sampling: Object.keys(sampling).length > 0 ? sampling : undefined,
      templateFields: (body.chat_template_kwargs ?? undefined) as JsonObject | undefined,
      passedOn: Object.keys(passedOn).length > 0 ? passedOn : undefined,
      unknown: Object.keys(unknown).length > 0 ? unknown : undefined,
    }),
  };
}

function samplingOf(body: ResponsesRequest): Sampling {
  const { top_logprobs: top, include, top_k: topK } = body;
  const stops = [body.stop ?? []].flat();
  return given({
    topP: body.top_p ?? undefined,
    topK: typeof topK === 'number' && topK > 0 ? topK : undefined,
    minP: body.min_p ?? undefined,
    repetitionPenalty: body.repetition_penalty ?? undefined,
    seed: body.seed ?? undefined,
    stop: stops.length > 0 ? stops : undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? undefined,
    logitBias: body.logit_bias ?? undefined,
    topLogprobs: include?.includes(LOGPROBS) || top ? (top ?? 0) : undefined,
  });
}

/** Returns the functions. Leaves out tools of other types, which the service does not run. */
export function toolsOf({ tools }: Pick<ResponsesRequest, 'tools'>): Tool[] {
  return ((tools ?? []) as unknown as JsonObject[]).flatMap(
    ({ type, name, description, parameters, strict }, i): Tool[] => {
      if (type !== 'function') return [];
      const fields = {
        description: typeof description === 'string' ? description : undefined,
        parameters: isObject(parameters) ? parameters : undefined,
        strict: typeof strict === 'boolean' ? strict : undefined,
      };
      return [{ name: String(name), ...given(fields), place: `tools.${i}.parameters` }];
    },
  );
}

const CALLABLE = 'needs a function in tools: tools of other types are left out';

/**
 * Returns the choice and the tools that it allows. A choice of a tool that was left out is no choice. Throws
 * InvalidRequest if the model must call a function, and there is none.
 */
function choiceOf(json: Json | undefined, tools: readonly Tool[]): { choice?: ToolChoice; tools?: readonly Tool[] } {
  const callable = () => new InvalidRequest([{ path: 'tool_choice', message: CALLABLE }]);
  if (json === 'required' && tools.length === 0) throw callable();
  if (json === 'auto' || json === 'none' || json === 'required') return { choice: json };
  if (!isObject(json)) return {};
  const has = (name: Json | undefined) => tools.some((tool) => tool.name === name);
  if (json.type === 'function') {
    if (!has(json.name))
      throw new InvalidRequest([{ path: 'tool_choice.name', message: 'must be one of the functions in tools' }]);
    return { choice: { tool: String(json.name) } };
  }
  if (json.type !== 'allowed_tools' || !Array.isArray(json.tools)) return {};
  const names = json.tools.flatMap((tool) =>
    isObject(tool) && tool.type === 'function' && has(tool.name) ? [tool.name] : [],
  );
  const isRequired = json.mode === 'required';
  if (isRequired && names.length === 0) throw callable();
  if (names.length === 0) return { choice: 'none' };
  return {
    choice: isRequired ? 'required' : 'auto',
    tools: tools.filter(({ name }) => names.includes(name)),
  };
}

type Format = NonNullable<NonNullable<ResponsesRequest['text']>['format']>;

function formatOf(format: Format | null | undefined): ResponseFormat | undefined {
  if (!format || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { json: 'object' };
  const { name, description, schema, strict } = format;
  return {
    json: 'schema',
    name,
    schema,
    ...given({ description: description ?? undefined, strict: strict ?? undefined }),
    place: 'text.format.schema',
  };
}

/** Returns the fields of the request that each answer repeats. */
export function repeatedOf(body: ResponsesRequest): JsonObject {
  const json = body as unknown as JsonObject;
  const { effort = null, summary = null } = (json.reasoning ?? {}) as JsonObject;
  const tier = json.service_tier;
  const tools = toolsOf(body).map(({ name, description = null, parameters = null, strict = null }) => ({
    ...{ type: 'function', name, description, parameters, strict },
  }));
  return {
    model: body.model,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: json.max_tool_calls ?? null,
    metadata: json.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    prompt_cache_key: json.prompt_cache_key ?? null,
    reasoning: { effort, summary },
    safety_identifier: json.safety_identifier ?? null,
    service_tier: typeof tier === 'string' && tier !== 'auto' ? tier : 'default',
    store: body.store ?? true,
    temperature: body.temperature ?? 0,
    top_p: body.top_p ?? 1,
    presence_penalty: body.presence_penalty ?? 0,
    frequency_penalty: body.frequency_penalty ?? 0,
    text: {
      format: (body.text?.format as JsonObject | null | undefined) ?? { type: 'text' },
      ...(typeof body.text?.verbosity === 'string' && { verbosity: body.text.verbosity }),
    },
    tool_choice: choiceJson(json.tool_choice, tools.length > 0),
    tools,
    top_logprobs: body.top_logprobs ?? 0,
    truncation: body.truncation ?? 'disabled',
    ...(typeof json.user === 'string' && { user: json.user }),
  };
}

const choiceJson = (choice: Json | undefined, hasTools: boolean): Json =>
  hasTools ? (choice ?? 'auto') : choice === 'none' ? 'none' : 'auto';
