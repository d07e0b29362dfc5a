/** Translates requests into the JSON of OpenAI's API. */
import type {
  ChatRequest,
  ContentPart,
  RequestMessage,
  ResponseFormat,
  Sampling,
  Tool,
  ToolCall,
  ToolChoice,
  VerbatimRequest,
} from '../../domain/chat/chat.js';
import { isObject } from '../../domain/workspace/json.js';

/** Changes only the model of a verbatim request, and asks for the usage of a stream. */
export function requestJson(request: ChatRequest, model: string, stream: boolean): object {
  const { verbatim } = request;
  if (!verbatim) return translated(request, model, stream);
  const { stream_options: options } = verbatim.json;
  const asked = { ...(isObject(options) && options), include_usage: true };
  return { ...verbatim.json, ...boundOf(request, verbatim), model, ...(stream && { stream, stream_options: asked }) };
}

/**
 * Returns the bound of a budget, by the names that the caller has used for its own. They may have values of any form, which
 * an engine could read as a number.
 */
function boundOf({ texts }: ChatRequest, { mostTokens, json }: VerbatimRequest): object {
  if (mostTokens === undefined) return {};
  const used = ['max_completion_tokens', 'max_tokens'].filter((name) => (json[name] ?? null) !== null);
  const names = texts !== undefined || used.length === 0 ? [...used, 'max_tokens'] : used;
  return Object.fromEntries(names.map((name) => [name, mostTokens]));
}

function translated(request: ChatRequest, model: string, stream: boolean): object {
  const { messages, temperature, maxTokens, tools, toolChoice, sampling, responseFormat } = request;
  const { parallelToolCalls, reasoningEffort, templateFields, passedOn, unknown } = request;
  return {
    ...unknown,
    ...passedOn,
    model,
    messages: messages.map(messageJson),
    ...(temperature !== null && { temperature }),
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    ...(maxTokens !== null && { max_tokens: maxTokens }),
    ...(tools && { tools: tools.map(toolJson) }),
    ...(toolChoice && { tool_choice: toolChoiceJson(toolChoice) }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
    ...(templateFields && { chat_template_kwargs: templateFields }),
    ...samplingJson(sampling),
    ...(responseFormat && { response_format: formatJson(responseFormat) }),
  };
}

/** Leaves the text `content` to messages without parts. */
export function messageJson(message: RequestMessage) {
  const { role, content, parts, name, toolCalls, toolCallId, refusal, reasoning } = message;
  return {
    role,
    content: parts ? (parts.length > 0 ? parts.map(partJson) : null) : content,
    ...(name !== undefined && { name }),
    ...(toolCalls && { tool_calls: toolCalls.map(toolCallJson) }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(refusal !== undefined && { refusal }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
  };
}

function partJson(part: ContentPart) {
  if ('text' in part) return { type: 'text', text: part.text };
  const { imageUrl: url, detail } = part;
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } };
}

const toolCallJson = ({ id, name, arguments: text }: ToolCall) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
});

const toolJson = ({ place: _, ...tool }: Tool) => ({ type: 'function', function: tool });

const toolChoiceJson = (choice: ToolChoice) =>
  typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.tool } };

function formatJson(format: ResponseFormat): object {
  if (format.json === 'object') return { type: 'json_object' };
  const { json: _, place: _place, ...schema } = format;
  return { type: 'json_schema', json_schema: schema };
}

function samplingJson(sampling: Sampling = {}): object {
  const { topP, topK, minP, repetitionPenalty, seed, stop, presencePenalty, frequencyPenalty, logitBias, topLogprobs } =
    sampling;
  const fields = {
    top_p: topP,
    top_k: topK,
    min_p: minP,
    repetition_penalty: repetitionPenalty,
    seed,
    stop,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    logit_bias: logitBias,
    logprobs: topLogprobs === undefined ? undefined : true,
    top_logprobs: topLogprobs,
  };
  return fields; // JSON leaves out undefined fields
}
