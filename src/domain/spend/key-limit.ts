import { DomainError } from '../shared/errors.js';
import { Budget } from './budget.js';
import type { Demand } from './demand.js';

/** A limit of an API key that all instances share: the tokens of a minute, or the calls that run. */
export interface KeyLimit {
  readonly of: 'tokens' | 'calls';
  readonly limit: number;
}

/** A limit of the caller's API key has no room for the call. */
export class KeyLimitReached extends DomainError {
  /** The time at which the limit may have room again. Null: the call alone can take more than the limit. */
  readonly resetsAt: Date | null;

  constructor(limit: KeyLimit, demand: Demand, now: Date) {
    const neverFits = limit.of === 'tokens' && leastTokens(demand) > limit.limit;
    const { message, seconds } = limit.of === 'calls' ? tooManyCalls(limit) : tooManyTokens(limit, { now, neverFits });
    super('busy', 'rate_limited', message, {
      retryAfterSeconds: seconds,
      ...(neverFits && { retryable: false }),
    });
    this.resetsAt = neverFits ? null : new Date(now.getTime() + 1_000 * seconds);
  }
}

const tooManyCalls = ({ limit }: KeyLimit) => ({
  message: `The API key allows ${limit} ${limit === 1 ? 'call' : 'calls'} of models at the same time: try again when one has ended.`,
  seconds: 1,
});

function tooManyTokens({ limit }: KeyLimit, { now, neverFits }: { readonly now: Date; readonly neverFits: boolean }) {
  const end = Budget.resetsAt('minute', now) as Date;
  const seconds = Math.max(1, Math.ceil((end.getTime() - now.getTime()) / 1_000));
  const why = neverFits
    ? 'this call alone can take more: send a shorter prompt or a smaller max_tokens.'
    : `what is left is too little for this call: try again in ${seconds} s, or with a smaller max_tokens.`;
  return { message: `The API key allows ${limit} tokens per minute, and ${why}`, seconds };
}

/** Returns the tokens that the call takes even with the shortest answer that it may get. */
const leastTokens = ({ promptTokens, answers, mostTokens, isExact }: Demand): number =>
  promptTokens + answers * (isExact ? (mostTokens ?? 0) : 1);
