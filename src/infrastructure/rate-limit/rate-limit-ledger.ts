import type { RateLimit, RateLimitKey } from '../../application/operations/ports.js';

/** The share of an instance in one limit of a caller, as the instance sends it. */
export interface LedgerPart extends RateLimit {
  /** The calls of the lease that the instance keeps. Null: the lease stays as it is. */
  readonly held: number | null;
  /** Whether the instance wants a greater lease. */
  readonly wants: boolean;
  /** The calls that it has made and not told yet: for each half second how many milliseconds ago, and how many. */
  readonly used: readonly (readonly [ago: number, calls: number])[];
}

export interface LedgerAsk {
  /** The caller, from `keyOf`. */
  readonly key: string;
  /** The number of further calls. Each counts under all the limits. */
  readonly calls: number;
  readonly limits: readonly LedgerPart[];
}

export interface LedgerStanding {
  /** The calls of all instances within the last minute. */
  readonly used: number;
  /** The calls that other instances have leased. */
  readonly reserved: number;
  /** The calls that were added to the lease. */
  readonly granted: number;
  /** Milliseconds until the oldest calls leave the window. Null if there are none. */
  readonly room: number | null;
}

export interface LedgerAnswer {
  /** The number of the calls that fit under all the limits. The others are not counted. */
  readonly admitted: number;
  /** The standings, in the order of the limits. */
  readonly limits: readonly LedgerStanding[];
}

/** Holds the counts of all instances. */
export interface RateLimitLedger {
  /** Returns a text that stands for the caller and does not tell who it is. */
  keyOf(key: RateLimitKey): string;

  /**
   * Answers all asks with one statement, in their order. Each ask does three things:
   *
   * 1. It reports the calls that the instance has made and not told yet.
   * 2. It counts further calls, as many of them as fit under all the limits. No two instances get the same call.
   * 3. It renews the lease, which ends after `reservedMs`. No other instance gets the leased calls until then.
   */
  ask(asks: readonly LedgerAsk[], reservedMs: number): Promise<readonly LedgerAnswer[]>;

  /** Counts the instances that run, with one statement. It may miss an instance that starts. */
  instances(): Promise<number>;
}
