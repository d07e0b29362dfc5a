/** Leaves out the oldest turns of a conversation that does not fit the context. */
import { type ChatRequest, mostTokens } from '../../../domain/chat/chat.js';
import type { Prompt } from './prompts.js';

/** Returns at most this many tokens of the conversation's prompt, and a few more if it is longer. */
type PromptOf = (request: ChatRequest, enough: number) => Generator<void, Prompt>;

/**
 * Returns the prompt of the most turns that fit, or null if not even the last turn fits. A turn begins with a message of
 * the user. System messages stay. Leaves room for the whole answer, but for no more than half of the context.
 */
export function* latestTurns(
  request: ChatRequest,
  context: number,
  promptOf: PromptOf,
): Generator<void, Prompt | null> {
  const { messages } = request;
  const [, ...beginnings] = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  const most = context - Math.min(mostTokens(request), Math.floor(context / 2));
  let best: Prompt | null = null;
  let [low, high] = [0, beginnings.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const beginning = beginnings[middle] as number;
    const kept = messages.filter(({ role }, index) => index >= beginning || role === 'system');
    const prompt = yield* promptOf({ ...request, messages: kept }, context);
    const isLast = middle === beginnings.length - 1;
    const fits = prompt.whole && prompt.tokens.length <= (isLast ? context - 1 : most);
    if (fits) best = prompt;
    if (fits) high = middle - 1;
    else low = middle + 1;
  }
  return best;
}
