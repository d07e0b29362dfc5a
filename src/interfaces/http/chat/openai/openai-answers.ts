import type { Completion, CompletionPart, TokenLogprob } from '../../../../domain/chat/chat.js';
import { usageAnswer } from '../dialects.js';

export const choiceOf = ({ text, toolCalls = [], logprobs, finishReason }: Completion) => ({
  index: 0,
  message: {
    role: 'assistant' as const,
    content: text === '' && toolCalls.length > 0 ? null : text,
    refusal: null,
    ...(toolCalls.length > 0 && { tool_calls: [...toolCalls] }),
  },
  logprobs: logprobsAnswer(logprobs),
  finish_reason: finishReason,
});

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
  const calls = toolCalls.length > 0 ? `"tool_calls":${JSON.stringify(toolCalls)}` : '';
  const fields = [content, calls].filter(Boolean).join(',');
  return fields === '' ? null : `{${fields}}`;
}
