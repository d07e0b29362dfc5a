import { type ChatRequest, chatLimits, mostTokens } from '../../domain/chat/chat.js';
import { answersOf, MOST_TOKENS } from '../../domain/chat/token-estimate.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { Demand } from '../../domain/spend/demand.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import type { Bounds } from './ports.js';

/** The bound of an answer that has no other, so that it does not hold a large budget all alone. */
const MOST_UNBOUNDED = 131_072;

/** The most answers to one prompt, as OpenAI's API allows them. */
const MOST_ANSWERS = 128;

/**
 * Returns what a chat call takes at most. A bound of the caller that is a whole number is exact. Without one, the usual
 * bound is cut to what remains. An engine elsewhere that decides alone how long an answer is gets a large one. Throws
 * InvalidRequest if an engine elsewhere could read the number of answers in another way.
 */
export function demandOf(request: ChatRequest, known: Pick<Demand, 'promptTokens' | 'prices' | 'mostMs'>): Demand {
  const { maxTokens, cutToContext = false, verbatim, texts } = request;
  const isWhole = Number.isInteger(maxTokens) && mostTokens(request) >= 1;
  const isUsual = texts !== undefined && (verbatim?.json.max_tokens ?? null) === null;
  const usual = verbatim || cutToContext ? MOST_UNBOUNDED : chatLimits.defaultMaxTokens;
  const most = isWhole ? Math.min(MOST_TOKENS, mostTokens(request)) : usual;
  const isExact = isWhole && !isUsual;
  const answers = Math.max(answersOf(request), verbatim ? answersIn(verbatim.json) : 1);
  return { ...known, answers, mostTokens: most, isExact };
}

/** Returns the most answers that a verbatim request can mean. */
function answersIn(json: JsonObject): number {
  const counts = ['n', 'best_of'].map((path) => {
    const value = json[path] ?? 1;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_ANSWERS) return value;
    const message = `must be a whole number from 1 to ${MOST_ANSWERS}, because a budget counts it`;
    throw new InvalidRequest([{ path, message }]);
  });
  const { prompt } = json;
  const prompts = Array.isArray(prompt) ? prompt.filter((one) => typeof one !== 'number').length : 1;
  return Math.max(...counts) * Math.max(1, prompts);
}

/** Returns the request with the bound of its budgets. An engine elsewhere gets no other bound beside it. */
export function bounded(request: ChatRequest, bounds: Bounds | null): ChatRequest {
  const most = bounds?.mostTokens ?? null;
  if (most === null) return request;
  const verbatim = request.verbatim && { ...request.verbatim, mostTokens: most };
  const cut = most !== request.maxTokens && { maxTokens: most, cutToContext: true };
  return { ...request, ...cut, ...(verbatim && { verbatim }) };
}
