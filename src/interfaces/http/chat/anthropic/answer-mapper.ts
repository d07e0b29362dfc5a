/** Maps answers to the JSON of Anthropic's Messages API. */
import type { Completion, CompletionEnd, CompletionPart, ToolCallPart, Usage } from '../../../../domain/chat/chat.js';
import { RuntimeInvalidResponse } from '../../../../domain/chat/errors.js';
import { isObject, type Json, type JsonObject } from '../../../../domain/workspace/json.js';
import { MODEL_LEVELS } from '../../body.js';
import { checkJsonText } from '../../json-body.js';
import type { ContentBlock, StopReason } from './messages.contract.js';

interface Head {
  readonly id: string;
  readonly model: string;
  /** The caller marks a part of the prompt for the cache. */
  readonly marksCache: boolean;
}

export const messageOf = ({ id, model, marksCache }: Head, completion: Completion) => ({
  id,
  type: 'message' as const,
  role: 'assistant' as const,
  model,
  content: blocksOf(completion),
  ...endOf(completion, (completion.toolCalls ?? []).length > 0),
  usage: usageOf(completion.usage, marksCache),
});

function blocksOf({ reasoning, text, toolCalls = [] }: Completion): ContentBlock[] {
  return [
    ...(reasoning ? [{ type: 'thinking' as const, thinking: reasoning, signature: '' as const }] : []),
    ...(text !== '' ? [{ type: 'text' as const, text }] : []),
    ...toolCalls.map(({ id, name, arguments: json }) => ({
      type: 'tool_use' as const,
      id,
      name,
      input: inputOf(json),
    })),
  ];
}

/** Throws RuntimeInvalidResponse for arguments that are no JSON object, or that a request could not have. */
function inputOf(text: string): JsonObject {
  const { problem } = checkJsonText(text, MODEL_LEVELS);
  if (problem) throw new RuntimeInvalidResponse(`the arguments of its tool call ${problem}.`);
  try {
    const input: Json = JSON.parse(text === '' ? '{}' : text);
    if (isObject(input)) return input;
  } catch {}
  throw new RuntimeInvalidResponse('the arguments of its tool call are no JSON object.');
}

const reasons: Readonly<Record<CompletionEnd['finishReason'], StopReason>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  other: 'end_turn',
};

function endOf({ finishReason, stopText }: CompletionEnd, callsTools: boolean) {
  const isStopped = finishReason === 'stop' && stopText !== undefined;
  const reason = finishReason === 'stop' && callsTools ? 'tool_use' : reasons[finishReason];
  return { stop_reason: isStopped ? ('stop_sequence' as const) : reason, stop_sequence: isStopped ? stopText : null };
}

/**
 * With a mark, tokens from the cache are no input tokens. Without one, all are, and the numbers of the cache are null. The
 * others are 0 if the engine does not report them.
 */
function usageOf(usage: Usage | null, marksCache: boolean) {
  const cached = marksCache ? (usage?.cachedTokens ?? 0) : null;
  return {
    input_tokens: usage ? usage.promptTokens - (cached ?? 0) : 0,
    cache_creation_input_tokens: marksCache ? 0 : null,
    cache_read_input_tokens: cached,
    output_tokens: usage?.completionTokens ?? 0,
  };
}

/** Returns an event as text. */
const event = (data: { readonly type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

/** Yields the events of an answer as texts. The first text begins the message, the last one ends it. */
export async function* messageEvents(
  parts: AsyncIterable<CompletionPart>,
  { id, model, marksCache }: Head,
): AsyncGenerator<string> {
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
  const start = { type: 'message_start', message: { ...message, usage: usageOf(null, marksCache) } };
  let text = event(start) + event({ type: 'ping' });
  const blocks = new Blocks();
  for await (const part of parts) {
    text += blocks.add(part);
    if (part.end) {
      const usage = usageOf(part.end.usage, marksCache);
      const end = { type: 'message_delta', delta: endOf(part.end, blocks.hasCalls), usage };
      text += blocks.close() + event(end) + event({ type: 'message_stop' });
    }
    if (text !== '') yield text;
    text = '';
  }
}

/** Writes the events of the blocks of a message. Only the last block is open. */
class Blocks {
  hasCalls = false;
  private index = -1;
  /** The kind of the open block, or the number of its tool call. */
  private open: 'text' | 'thinking' | number | null = null;
  private readonly called = new Set<number>();

  /** Returns the events for a part of the answer. */
  add({ reasoning = '', text, toolCalls = [] }: CompletionPart): string {
    const thought =
      reasoning === ''
        ? ''
        : this.begin('thinking', { type: 'thinking', thinking: '', signature: '' }) +
          this.delta({ type: 'thinking_delta', thinking: reasoning });
    const said =
      text === '' ? '' : this.begin('text', { type: 'text', text: '' }) + this.delta({ type: 'text_delta', text });
    return thought + said + toolCalls.map((call) => this.call(call)).join('');
  }

  close(): string {
    if (this.open === null) return '';
    this.open = null;
    return event({ type: 'content_block_stop', ...{ index: this.index } });
  }

  private call({ index, id, name, arguments: json }: ToolCallPart): string {
    this.hasCalls = true;
    const isNew = !this.called.has(index);
    if (!isNew && this.open !== index)
      throw new RuntimeInvalidResponse('it goes on with a tool call after the next one has begun.');
    if (isNew && (id === undefined || name === undefined))
      throw new RuntimeInvalidResponse('its tool call has no id or no name.');
    this.called.add(index);
    const begun = this.begin(index, { type: 'tool_use', id, name, input: {} });
    return begun + (json === '' ? '' : this.delta({ type: 'input_json_delta', partial_json: json }));
  }

  /** Closes the open block and begins another, unless the open one is of this kind. */
  private begin(kind: NonNullable<Blocks['open']>, block: object): string {
    if (this.open === kind) return '';
    const closed = this.close();
    this.open = kind;
    this.index++;
    return closed + event({ type: 'content_block_start', ...{ index: this.index, content_block: block } });
  }

  private delta(delta: object): string {
    return event({ type: 'content_block_delta', ...{ index: this.index, delta } });
  }
}
