/** Maps answers to the JSON of OpenAI's API. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type {
  Answer,
  AnswerEnd,
  Completion,
  CompletionPart,
  FinishReason,
  TokenLogprob,
  ToolCall,
  ToolCallPart,
} from '../../../../domain/chat/chat.js';
import { usageAnswer } from '../dialects.js';

/** Leaves out the log probabilities. `completionText` adds them. */
export const choiceOf = (
  { text, toolCalls = [], reasoning, finishReason }: Answer,
  index: number,
  hasFunctions: boolean,
) => ({
  index,
  message: {
    role: 'assistant' as const,
    content: text === '' && toolCalls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && callsJson(toolCalls, hasFunctions)),
  },
  logprobs: null,
  finish_reason: finishOf(finishReason, hasFunctions),
});

/** Returns the JSON of a verbatim answer, or of one of its events, with the name that the caller gave the model. */
export const verbatimJson = (verbatim: string, model: string): string =>
  `{"model":${JSON.stringify(model)},${verbatim.slice(1)}`;

/** After this many tokens have been written as text, other requests can run. */
const TOKENS_PER_STEP = 16;

/** Yields the JSON of an answer with log probabilities piece by piece. As one text it could delay other requests. */
export async function* completionText(
  answer: object,
  completion: Completion,
  hasFunctions: boolean,
): AsyncGenerator<string> {
  let text = `${JSON.stringify(answer).slice(0, -1)},"choices":[`;
  for (const [index, one] of [completion, ...(completion.others ?? [])].entries()) {
    const { logprobs: _, ...choice } = choiceOf(one, index, hasFunctions);
    text += `${index > 0 ? ',' : ''}${JSON.stringify(choice).slice(0, -1)},"logprobs":{"content":[`;
    let tokens = 0;
    for (const token of one.logprobs ?? []) {
      text += (tokens++ > 0 ? ',' : '') + JSON.stringify(tokenAnswer(token));
      if (tokens % TOKENS_PER_STEP > 0) continue;
      yield text;
      text = '';
      await yieldToEventLoop();
    }
    text += '],"refusal":null}}';
  }
  yield `${text}]}`;
}

const toolCallJson = ({ id, name, arguments: text, ...index }: ToolCall | ToolCallPart) => ({
  ...index,
  ...(id !== undefined && { id, type: 'function' }),
  function: { ...(name !== undefined && { name }), arguments: text },
});

/** An answer to a request with `functions` has at most one call. */
const callsJson = (calls: readonly (ToolCall | ToolCallPart)[], hasFunctions: boolean) =>
  hasFunctions ? { function_call: calls.map(toolCallJson)[0]?.function } : { tool_calls: calls.map(toolCallJson) };

/** An engine's reason of its own is only in a verbatim answer. */
function finishOf(reason: FinishReason, hasFunctions: boolean) {
  if (reason === 'tool_calls' && hasFunctions) return 'function_call';
  return reason === 'other' ? 'stop' : reason;
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
  /** Calls are answered as `function_call`. */
  readonly hasFunctions?: boolean;
}

/** Yields the events of an answer as texts. The last text has the end of the answer, the usage and `[DONE]`. */
export async function* chatEvents(
  parts: AsyncIterable<CompletionPart>,
  { id, created, model, includesUsage, hasFunctions = false }: ChunkHead,
): AsyncGenerator<string, void> {
  // Only the middle of a chunk changes. The rest is built once, because thousands of chunks are sent in a second.
  const head = `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1)},"choices":[`;
  const tail = includesUsage ? '],"usage":null}\n\n' : ']}\n\n';
  const chunk = (index: number, delta: string, finish: string | null, logprobs?: readonly TokenLogprob[]) => {
    const logprobsText = JSON.stringify(logprobsAnswer(logprobs));
    return `${head}{"index":${index},"delta":${delta},"logprobs":${logprobsText},"finish_reason":${JSON.stringify(finish)}}${tail}`;
  };
  const ended = (index: number, reason: AnswerEnd | undefined) =>
    reason ? chunk(index, '{}', finishOf(reason.finishReason, hasFunctions)) : '';
  const last = ({ usage }: NonNullable<CompletionPart['end']>) => {
    const usageEvent = includesUsage ? `${head}],"usage":${JSON.stringify(usageAnswer(usage))}}\n\n` : '';
    return `${usageEvent}data: [DONE]\n\n`;
  };
  /** The answers that have begun. */
  const begun = new Set<number>();
  const first = (index: number) => {
    if (begun.has(index)) return '';
    begun.add(index);
    return chunk(index, '{"role":"assistant","content":""}', null);
  };
  let isVerbatim = false;
  let areSeveral = false;
  for await (const part of parts) {
    isVerbatim ||= part.verbatim !== undefined;
    if (isVerbatim) {
      const event = part.verbatim === undefined ? '' : `data: ${verbatimJson(part.verbatim, model)}\n\n`;
      yield part.end ? `${event}data: [DONE]\n\n` : event;
      continue;
    }
    const { choice = 0, end } = part;
    areSeveral ||= part.choice !== undefined;
    const delta = deltaOf(part, hasFunctions);
    const own = `${first(choice)}${delta ? chunk(choice, delta, null, part.logprobs) : ''}${ended(choice, part.ended ?? (areSeveral ? undefined : end))}`;
    const event = `${own}${end ? last(end) : ''}`;
    if (event !== '') yield event;
  }
}

/** Returns the JSON that a part adds to the message, or null if it adds nothing. */
function deltaOf(part: CompletionPart, hasFunctions: boolean): string | null {
  const { text, logprobs = [], toolCalls = [], reasoning } = part;
  const content = text !== '' || logprobs.length > 0 ? `"content":${JSON.stringify(text)}` : '';
  const calls = toolCalls.length > 0 ? JSON.stringify(callsJson(toolCalls, hasFunctions)).slice(1, -1) : '';
  const thought = reasoning === undefined ? '' : `"reasoning_content":${JSON.stringify(reasoning)}`;
  const fields = [thought, content, calls].filter(Boolean).join(',');
  return fields === '' ? null : `{${fields}}`;
}
