/** Computes with exact amounts: whole numbers of billionths, never floating-point numbers. */

const PLACES = 9;
const ONE = 10n ** BigInt(PLACES);
const MILLION = 1_000_000n;

/** Reads a decimal with at most nine places, such as `12.5`. Returns null for other text. */
export function nanosOf(text: string): bigint | null {
  const [, sign, whole = '', part = ''] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(text.trim()) ?? [];
  if (whole === '') return null;
  const nanos = BigInt(whole) * ONE + BigInt(part.padEnd(PLACES, '0'));
  return sign === '-' ? -nanos : nanos;
}

/** Returns the amount with nine places, such as `12.500000000`. */
export function amountOf(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  return `${nanos < 0n ? '-' : ''}${size / ONE}.${String(size % ONE).padStart(PLACES, '0')}`;
}

export interface SpentAmounts {
  readonly limit: number;
  readonly settled: string;
  readonly held: string;
  readonly remaining: string;
}

/** The parts of a budget from 0 to 1, for a bar. Nothing of a limit of 0 is left. */
export interface BudgetShares {
  readonly settled: number;
  readonly held: number;
}

/** Returns how much of the limit is settled and held. Together they are at most 1. */
export function sharesOf({ settled, held, remaining }: SpentAmounts): BudgetShares {
  const [taken, bound, left] = [settled, held, remaining].map((amount) => nanosOf(amount) ?? 0n) as [
    bigint,
    bigint,
    bigint,
  ];
  const limit = taken + bound + left;
  if (limit <= 0n) return { settled: 1, held: 0 };
  const share = (amount: bigint) => Number((amount * 10_000n) / limit) / 10_000;
  const part = Math.min(share(taken), 1);
  return { settled: part, held: Math.min(share(bound), 1 - part) };
}

/** `near`: more than 80 % are settled. `exceeded`: nothing is left. */
export type BudgetLevel = 'free' | 'near' | 'exceeded';

const NEAR = 0.8;

export function levelOf(budget: SpentAmounts): BudgetLevel {
  const { settled } = sharesOf(budget);
  if (settled >= 1) return 'exceeded';
  return settled > NEAR ? 'near' : 'free';
}

export interface CountedCalls {
  readonly calls: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly tokens_in: number;
  readonly tokens_out: number;
}

/** Prices in billionths, for a million tokens or for one call. */
export interface TrialPrices {
  readonly input: bigint;
  readonly output: bigint;
  readonly perCall: bigint;
}

/** Returns the calls without those that failed, which cost nothing. */
export const paidCalls = ({ calls, failures }: CountedCalls): number =>
  calls - Object.values(failures).reduce((sum, count) => sum + count, 0);

/** Returns what calls would have cost, rounded half up once. */
export function trialCost(counted: CountedCalls, { input, output, perCall }: TrialPrices): string {
  const tokens = BigInt(counted.tokens_in) * input + BigInt(counted.tokens_out) * output;
  return amountOf((tokens + BigInt(paidCalls(counted)) * perCall * MILLION + MILLION / 2n) / MILLION);
}
