import type { ChatRequest } from '../../domain/chat/chat.js';
import { mostTokens } from '../../domain/chat/chat.js';
import { answersOf } from '../../domain/chat/token-estimate.js';
import type { Demand } from '../../domain/spend/demand.js';
import type { Bounds } from './ports.js';

/** The bound of an answer that has no other, so that it does not hold a large budget all alone. */
const MOST_UNBOUNDED = 131_072;

/**
 * Returns what a chat call takes at most. The bound of the caller is exact. Without one, the usual bound is cut to what
 * remains. An engine elsewhere that decides alone how long an answer is gets a large one.
 */
export function demandOf(request: ChatRequest, known: Pick<Demand, 'promptTokens' | 'prices' | 'mostMs'>): Demand {
  const { maxTokens, cutToContext = false } = request;
  const most = maxTokens === null && cutToContext ? MOST_UNBOUNDED : mostTokens(request);
  return { ...known, answers: answersOf(request), mostTokens: most, isExact: maxTokens !== null };
}

/** Returns the request with the bound of its budgets. */
export function bounded(request: ChatRequest, bounds: Bounds | null): ChatRequest {
  const most = bounds?.mostTokens ?? null;
  if (most === null || most === request.maxTokens) return request;
  const verbatim = request.verbatim && { ...request.verbatim, mostTokens: most };
  return { ...request, maxTokens: most, cutToContext: true, ...(verbatim && { verbatim }) };
}
