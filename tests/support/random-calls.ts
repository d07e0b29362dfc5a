import { type CallTracker } from '../../src/application/jobs/call-tracker.js';
import type { BudgetGuard } from '../../src/application/spend/budget-guard.js';
import type { AccountCaller } from '../../src/domain/accounts/caller.js';
import { InferenceTimeout } from '../../src/domain/chat/errors.js';
import { nanosOfCost } from '../../src/domain/spend/cost.js';
import { Prices } from '../../src/domain/spend/prices.js';
import { atOnce } from './barrier.js';
import { Draw } from './draw.js';
import { at } from './records.js';

export const accountCaller = (of: Pick<AccountCaller, 'accountId' | 'teamId' | 'credentialId'>): AccountCaller => ({
  kind: 'api_key',
  accountName: 'Ada',
  email: 'ada@example.com',
  alertEmails: false,
  createdAt: at(0),
  role: 'member',
  operator: false,
  emailVerified: true,
  lastUsedAt: null,
  restrictions: null,
  ...of,
});

/** A price with up to nine decimal places. */
const price = (draw: Draw, end = 20) =>
  Number(`${draw.below(end)}.${String(draw.below(1_000_000_000)).padStart(9, '0')}`);

interface Parts {
  readonly tracking: CallTracker;
  readonly guard: BudgetGuard;
}

/**
 * Makes calls with random prices, tokens and ends. Their sum has more digits than a floating-point number. Returns the sum of their costs, in billionths.
 */
export async function randomCalls(
  { tracking, guard }: Parts,
  { by, projectId, count, seed = 1 }: { by: AccountCaller; projectId: string; count: number; seed?: number },
): Promise<bigint> {
  const draw = new Draw(seed);
  let [left, sum] = [count, 0n];
  await atOnce(16, async () => {
    while (left-- > 0) {
      const json = {
        input: price(draw),
        output: price(draw),
        cached_input: price(draw),
        per_call: price(draw, 1_000_000),
      };
      const prices = Prices.ofModel({ prices: json }) as Prices;
      const [tokensIn, tokensOut] = [draw.below(5_000), draw.below(5_000)];
      const figures = { tokensIn, tokensOut, tokensCached: draw.below(tokensIn + 1), firstToken: null };
      const [fails, isCharged] = [draw.below(5) === 0, draw.below(2) === 0];
      const known = { promptTokens: tokensIn, mostMs: 60_000, prices };
      const demand = async () => ({ ...known, answers: 1, mostTokens: 5_000, isExact: true });
      const call = await tracking.open({
        ...{
          by,
          projectId,
          pricesOf: () => prices,
          kind: 'chat',
          name: null,
          modelId: 'mdl_1',
          signal: new AbortController().signal,
        },
        guard: (callId, at) => guard.take({ by, callId, projectId, at, demand }),
      });
      call.admitted();
      if (fails) await call.failed(new InferenceTimeout(1), isCharged ? { ...figures, isCharged } : undefined);
      else await call.succeeded(figures);
      if (!fails || isCharged) sum += nanosOfCost(Prices.cost(prices, { ...figures, milliseconds: 0 }));
    }
  });
  return sum;
}
