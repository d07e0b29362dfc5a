/** Maps requests to Anthropic's Messages API to the engine-neutral chat. */
import type {
  ChatRequest,
  ContentPart,
  RequestMessage,
  ResponseFormat,
  Tool,
  ToolChoice,
} from '../../../../domain/chat/chat.js';
import { UnsupportedParameter } from '../../../../domain/chat/errors.js';
import { InvalidRequest } from '../../../../domain/shared/errors.js';
import type { JsonObject } from '../../../../domain/workspace/json.js';
import { isGiven } from '../dialects.js';
import {
  type Block,
  type CountRequest,
  isOwn,
  knownFields,
  type MessageParam,
  type MessagesRequest,
} from './messages-request.js';

/** Returns the request of a message. */
export function chatRequestOf(body: MessagesRequest): ChatRequest {
  const { max_tokens: maxTokens, temperature = null, top_p: topP, top_k: topK, stop_sequences: stop, metadata } = body;
  const sampling = {
    ...(isGiven(topP) && { topP }),
    ...(topK && { topK }),
    ...(stop && stop.length > 0 && { stop }),
  };
  const user = metadata?.user_id;
  return {
    ...promptOf(body),
    maxTokens,
    cutToContext: true,
    temperature,
    ...(Object.keys(sampling).length > 0 && { sampling }),
    ...(typeof user === 'string' && { passedOn: { user } }),
  };
}

/** Returns a request with everything that its prompt needs. */
export function promptOf(body: CountRequest): ChatRequest {
  const { system, messages, tools, output_config: config } = body;
  const own = tools?.flatMap((tool, i) => (isOwn(tool.type) ? [toolOf(tool, i)] : [])) ?? [];
  const effort = effortOf(body);
  const format = config?.format;
  const unknown = unknownOf(body);
  return {
    messages: [...(system ? [messageOf('system', system)] : []), ...messages.flatMap(messagesOf)],
    maxTokens: null,
    cutToContext: true,
    temperature: null,
    ...(own.length > 0 && { tools: own }),
    ...choiceOf(body, own.length > 0),
    ...(effort && { reasoningEffort: effort }),
    ...(format && { responseFormat: formatOf(format.schema) }),
    ...(unknown && { unknown }),
  };
}

/** Returns the fields that Anthropic does not document, or null. Throws UnsupportedParameter for servers of tools. */
function unknownOf(body: CountRequest): JsonObject | null {
  const { mcp_servers: servers, ...others } = body as unknown as JsonObject;
  if (Array.isArray(servers) && servers.length > 0)
    throw new UnsupportedParameter('mcp_servers', 'is not supported: list the tools in tools');
  const unknown = Object.entries(others).filter(([name]) => !knownFields.has(name));
  return unknown.length > 0 ? Object.fromEntries(unknown) : null;
}

const formatOf = (schema: JsonObject): ResponseFormat => ({
  ...{ json: 'schema', name: 'answer', schema, strict: true },
  place: 'output_config.format.schema',
});

/** From these numbers of thinking tokens on, an effort is `medium` and `high`. */
const MEDIUM = 4_096;
const HIGH = 16_384;

function effortOf({ thinking, output_config: config }: CountRequest): string | null {
  if (!thinking || thinking.type === 'disabled') return config?.effort ?? null;
  if (config?.effort) return config.effort;
  if (thinking.type !== 'enabled') return 'high';
  const { budget_tokens: budget } = thinking;
  return budget < MEDIUM ? 'low' : budget < HIGH ? 'medium' : 'high';
}

type ToolParam = NonNullable<CountRequest['tools']>[number];

function toolOf({ name, description, input_schema, strict }: ToolParam, index: number): Tool {
  return {
    name,
    ...(isGiven(description) && { description }),
    ...(input_schema && { parameters: input_schema }),
    ...(isGiven(strict) && { strict }),
    place: `tools.${index}.input_schema`,
  };
}

/** A choice among no tools has no effect, unless it demands a call. Then it throws InvalidRequest. */
function choiceOf({ tool_choice: choice, tools }: CountRequest, hasTools: boolean): Partial<ChatRequest> {
  if (!choice) return {};
  const refuse = (path: string, message: string) => new InvalidRequest([{ path, message }]);
  const isForced = choice.type === 'any' || choice.type === 'tool';
  if (!hasTools && isForced) throw refuse('tool_choice', 'is only for requests with tools that the caller runs');
  if (!hasTools) return {};
  if (choice.type === 'tool' && !tools?.some(({ name, type }) => isOwn(type) && name === choice.name))
    throw refuse('tool_choice.name', 'must be the name of one of the tools');
  const choices = { auto: 'auto', any: 'required', none: 'none' } as const;
  const toolChoice: ToolChoice = choice.type === 'tool' ? { tool: choice.name } : choices[choice.type];
  const isSingle = choice.type !== 'none' && choice.disable_parallel_tool_use === true;
  return { toolChoice, ...(isSingle && { parallelToolCalls: false }) };
}

/** Results of tools are messages of their own. */
function messagesOf({ role, content }: MessageParam): RequestMessage[] {
  if (typeof content === 'string' || role !== 'user') return [messageOf(role, content)];
  const all: RequestMessage[] = [];
  let others: Block[] = [];
  const flush = () => {
    if (others.length > 0) all.push(messageOf(role, others));
    others = [];
  };
  for (const block of content) {
    if (block.type !== 'tool_result') {
      others.push(block);
      continue;
    }
    flush();
    const result = block.content ?? '';
    all.push({ ...messageOf('tool', block.is_error ? failed(result) : result), toolCallId: block.tool_use_id });
  }
  flush();
  return all.length > 0 ? all : [messageOf(role, '')];
}

/** Begins the result of a tool that failed. The engine-neutral chat has no other mark for it. */
const FAILED = 'Error: ';

function failed(result: string | readonly Block[]): string | readonly Block[] {
  if (typeof result === 'string') return FAILED + result;
  const [first, ...others] = result;
  if (first?.type === 'text') return [{ ...first, text: FAILED + first.text }, ...others];
  return [{ type: 'text', text: FAILED }, ...result];
}

/** One text is the content. Several texts are parts. Their joined text is the content for engines without parts. */
function messageOf(role: RequestMessage['role'], content: string | readonly Block[]): RequestMessage {
  if (typeof content === 'string') return { role, content };
  const parts = content.flatMap(partOf);
  const joined = parts.map((part) => ('text' in part ? part.text : '')).join('');
  const toolCalls = content.flatMap((block) =>
    block.type === 'tool_use' ? [{ id: block.id, name: block.name, arguments: JSON.stringify(block.input) }] : [],
  );
  const thoughts = content.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : []));
  const hasParts = parts.length > 1 || parts.some((part) => 'imageUrl' in part);
  const isEmpty = parts.length === 0 && toolCalls.length > 0;
  return {
    role,
    content: joined,
    ...((hasParts || isEmpty) && { parts }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(thoughts.length > 0 && { reasoning: thoughts.join('') }),
  };
}

function partOf(block: Block): ContentPart[] {
  if (block.type === 'text') return [{ text: block.text }];
  if (block.type !== 'image') return [];
  const { source } = block;
  return [{ imageUrl: source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}` }];
}
