import type { BudgetUnit } from './budget.js';
import { type Nanos, nanosOfNumber } from './cost.js';
import type { PricedCall } from './prices.js';
import { Prices } from './prices.js';

/** The most that a call can take from budgets, known before it begins. */
export interface Demand {
  /** At least the tokens of the prompt. */
  readonly promptTokens: number;
  /** The number of answers, each with the same bound. */
  readonly answers: number;
  /** The bound of each answer that the caller asked for, or that the model has. Null: the model has none. */
  readonly mostTokens: number | null;
  /** True: a smaller bound than `mostTokens` is not what the caller asked for, so the call is refused instead. */
  readonly isExact: boolean;
  readonly mostMs: number;
  /** The prices of the call. Null: it has none. */
  readonly prices: Prices | null;
}

/** An amount that grows with the tokens of each answer. In billionths of the unit. */
export interface Linear {
  readonly fixed: Nanos;
  readonly perToken: Nanos;
}

export type Amounts = Readonly<Record<BudgetUnit, Nanos>>;

/** Taken by a call that made nothing. */
export const NOTHING: Amounts = { cost: 0n, tokens: 0n, calls: 0n, seconds: 0n };

const ONE = 1_000_000_000n;
const NO_PRICES: Prices = { input: 0n, cachedInput: 0n, output: 0n, perCall: 0n, perSecond: 0n };

/** Returns a price for tokens in billionths, rounded up. */
const ceiled = (millionths: Nanos): Nanos => (millionths + 999_999n) / 1_000_000n;

export const Demand = {
  /** Returns the amounts of a call. They are never below the real ones: fractions of a billionth are rounded up. */
  linear({ promptTokens, answers, mostMs, prices }: Demand): Readonly<Record<BudgetUnit, Linear>> {
    const { input, cachedInput, output, perCall, perSecond } = prices ?? NO_PRICES;
    const dearest = input > cachedInput ? input : cachedInput;
    const time = ceiled(BigInt(mostMs) * perSecond * 1_000n);
    return {
      cost: {
        fixed: ceiled(BigInt(promptTokens) * dearest) + perCall + time,
        perToken: ceiled(BigInt(answers) * output),
      },
      tokens: { fixed: BigInt(promptTokens) * ONE, perToken: BigInt(answers) * ONE },
      calls: { fixed: ONE, perToken: 0n },
      seconds: { fixed: BigInt(mostMs) * 1_000_000n, perToken: 0n },
    };
  },

  /** Returns what a call has taken. */
  taken(prices: Prices | null, call: PricedCall, counts: boolean): Amounts {
    if (!counts) return NOTHING;
    return {
      cost: prices ? Prices.nanos(prices, call) : 0n,
      tokens: (BigInt(call.tokensIn ?? 0) + BigInt(call.tokensOut ?? 0)) * ONE,
      calls: ONE,
      seconds: nanosOfNumber(call.milliseconds / 1_000) ?? 0n,
    };
  },
};
