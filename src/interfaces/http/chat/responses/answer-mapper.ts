/** Maps responses to the JSON of the Responses API. */
import type { TokenLogprob, Usage } from '../../../../domain/chat/chat.js';
import type { AnswerItem, Response, ResponseFailure } from '../../../../domain/chat/response.js';
import { isObject, type JsonObject } from '../../../../domain/workspace/json.js';
import { wholeSeconds } from '../../schemas.js';
import { itemId } from './items.js';
import { ownWords } from './own-words.js';

export function responseJson(response: Response) {
  const { id, status, background, previousId, repeated, output, usage, failure, createdAt, finishedAt } = response;
  return {
    id,
    object: 'response' as const,
    created_at: wholeSeconds(createdAt),
    status,
    background,
    completed_at: status === 'completed' && finishedAt ? wholeSeconds(finishedAt) : null,
    error: failure && failureJson(failure),
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' as const } : null,
    previous_response_id: previousId,
    output: output.map((item) => itemJson(response, item)),
    usage: usageJson(usage),
    ...(repeated as JsonObject & RepeatedFields),
  };
}

/** The fields of the request that `repeatedOf` returns. */
interface RepeatedFields {
  readonly model: string;
}

const failureJson = ({ code, message, isBusy }: ResponseFailure) => ({
  code: isBusy ? ('rate_limit_exceeded' as const) : ('server_error' as const),
  message: `${code}: ${ownWords(message)}`,
});

const usageJson = (usage: Usage | null) =>
  usage && {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: usage.promptTokens + usage.completionTokens,
  };

/** True if the caller wants what the model thinks as a summary. */
export const wantsSummary = ({ repeated: { reasoning } }: Pick<Response, 'repeated'>): boolean =>
  isObject(reasoning) && typeof reasoning.summary === 'string';

type OfResponse = Pick<Response, 'id' | 'repeated'>;

/** Returns an item of an answer. One that has begun is `in_progress`, and empty. */
export function itemJson(response: OfResponse, item: AnswerItem, hasEnded = true) {
  const id = itemId(response.id, item);
  const status = hasEnded ? (item.isCut ? 'incomplete' : 'completed') : 'in_progress';
  if (item.kind === 'call') {
    const { id: call_id, name, arguments: text } = item;
    return { id, type: 'function_call' as const, status, call_id, name, arguments: text };
  }
  if (item.kind === 'text') {
    const content = hasEnded ? [textJson(item.text, item.logprobs)] : [];
    return { id, type: 'message' as const, status, role: 'assistant' as const, content };
  }
  const parts = hasEnded ? [item.text] : [];
  return wantsSummary(response)
    ? { id, type: 'reasoning' as const, summary: parts.map((text) => ({ type: 'summary_text', text })) }
    : { id, type: 'reasoning' as const, summary: [], content: parts.map((text) => ({ type: 'reasoning_text', text })) };
}

export const textJson = (text: string, logprobs: readonly TokenLogprob[] = []) => ({
  type: 'output_text' as const,
  text,
  annotations: [],
  logprobs: logprobsJson(logprobs),
});

export const logprobsJson = (logprobs: readonly TokenLogprob[]) =>
  logprobs.map(({ token, bytes, logprob, top }) => ({
    token,
    bytes: [...bytes],
    logprob,
    top_logprobs: top.map((one) => ({ token: one.token, bytes: [...one.bytes], logprob: one.logprob })),
  }));
