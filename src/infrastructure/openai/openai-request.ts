/** Translates requests into the JSON of OpenAI's API. */
import type {
  ChatRequest,
  ContentPart,
  Passthrough,
  RequestMessage,
  ResponseFormat,
  Sampling,
  Tool,
  ToolCall,
  ToolChoice,
} from '../../domain/chat/chat.js';
import type { Json } from '../../domain/workspace/json.js';

export function requestJson(request: ChatRequest, model: string, stream: boolean): object {
  const { messages, temperature, maxTokens, tools, toolChoice, sampling, responseFormat } = request;
  return {
    model,
    messages: messages.map(messageJson),
    temperature,
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    ...(maxTokens !== null && { max_tokens: maxTokens }),
    ...(tools && { tools: tools.map(toolJson) }),
    ...(toolChoice && { tool_choice: toolChoiceJson(toolChoice) }),
    ...samplingJson(sampling),
    ...(responseFormat && { response_format: formatJson(responseFormat) }),
  };
}

/** Leaves the text `content` to messages without parts. */
export function messageJson({ role, content, parts, name, toolCalls, toolCallId, refusal }: RequestMessage) {
  return {
    role,
    content: parts ? (parts.length > 0 ? parts.map(partJson) : null) : content,
    ...(name !== undefined && { name }),
    ...(toolCalls && { tool_calls: toolCalls.map(toolCallJson) }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(refusal !== undefined && { refusal }),
  };
}

function partJson(part: ContentPart): Json {
  if ('json' in part) return part.json;
  return 'text' in part ? { type: 'text', text: part.text } : { type: 'image_url', image_url: { url: part.imageUrl } };
}

function toolCallJson(call: ToolCall | Passthrough): Json {
  if ('json' in call) return call.json;
  const { id, name, arguments: text, more } = call;
  return { id, type: 'function', function: { name, arguments: text }, ...fieldsOf(more) };
}

function toolJson(tool: Tool | Passthrough): Json {
  if ('json' in tool) return tool.json;
  const { more, ...fields } = tool;
  return { type: 'function', function: fields, ...fieldsOf(more) };
}

function toolChoiceJson(choice: ToolChoice): Json {
  if (typeof choice === 'string') return choice;
  return 'json' in choice ? choice.json : { type: 'function', function: { name: choice.tool } };
}

const fieldsOf = (more: Passthrough | undefined) => more?.json as object | undefined;

function formatJson({ json, ...format }: ResponseFormat): object {
  return json === 'schema' ? { type: 'json_schema', json_schema: format } : { type: 'json_object' };
}

function samplingJson(sampling: Sampling = {}): object {
  const { topP, seed, stop, presencePenalty, frequencyPenalty, logitBias, topLogprobs } = sampling;
  const fields = {
    top_p: topP,
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
