import { ANSWERED, type Attempts, CANCELLED } from '../../domain/jobs/attempt.js';
import { type CallUsage, Job } from '../../domain/jobs/job.js';
import { DomainError, type ErrorKind } from '../../domain/shared/errors.js';
import { FREE } from '../../domain/spend/cost.js';
import { Demand } from '../../domain/spend/demand.js';
import { Prices } from '../../domain/spend/prices.js';
import type { Bounds, Charge } from '../spend/ports.js';

/** The figures that a call reports at its end. */
export interface CallFigures extends CallUsage {
  /** Those of `tokensIn` that the model had in its cache. */
  readonly tokensCached?: number;
  /** True: the model has made a part of the answer, so the call costs something even if it did not succeed. */
  readonly isCharged?: boolean;
}

export const NO_FIGURES: CallFigures = { tokensIn: null, tokensOut: null, firstToken: null };

export type Outcome = Omit<Parameters<typeof Job.finish>[1], 'usage' | 'cost' | 'attempts'>;

interface Calculation {
  readonly figures: CallFigures | undefined;
  readonly prices: Prices | null;
  readonly attempts: Attempts | undefined;
  readonly bounds: Bounds | null;
  readonly at: Date;
}

/** The finished job of a call, and what it has taken. */
export interface Finished {
  readonly job: Job;
  readonly charge: Charge;
}

/**
 * Ends the job of a call. A call that made no part of an answer costs nothing, unless it succeeded. The time that a call
 * needs to end after its deadline is not charged.
 */
export function finishedCall(job: Job, outcome: Outcome, known: Calculation): Finished {
  const { figures = NO_FIGURES, prices, attempts, bounds, at } = known;
  const { tokensCached = 0, isCharged = false, ...made } = figures;
  const lasted = Math.max(0, at.getTime() - (job.startedAt ?? at).getTime());
  const milliseconds = bounds ? Math.min(lasted, bounds.mostMs) : lasted;
  const usage = { ...made, ...(milliseconds < lasted && { seconds: milliseconds / 1_000 }) };
  const isFree = outcome.status !== 'succeeded' && !isCharged;
  const priced = { ...usage, tokensCached, milliseconds };
  const cost = prices && (isFree ? FREE : Prices.cost(prices, priced));
  const charge = { taken: Demand.taken(prices, priced, !isFree), isHeld: bounds !== null };
  const tried = { attempts: attempts?.all(attemptOutcome(outcome)) };
  return { job: Job.finish(job, { ...outcome, ...tried, usage, cost }, at), charge };
}

/** Returns the outcome of an attempt that ends together with its call. */
function attemptOutcome({ status, failure = 'internal_error' }: Outcome): string {
  if (status === 'succeeded') return ANSWERED;
  return status === 'cancelled' ? CANCELLED : failure;
}

/** Errors of these kinds are the model's fault, not the caller's. */
const faults: readonly ErrorKind[] = ['bad_gateway', 'unavailable', 'timeout'];

/** Tells whether an error is the fault of the caller. */
export const isRefusal = (error: unknown) => error instanceof DomainError && !faults.includes(error.kind);

/** Returns the error that the job of a failed call shows. */
export const reasonOf = (error: unknown) =>
  error instanceof DomainError
    ? { failure: error.code, error: `${error.code}: ${error.message}` }
    : { failure: 'internal_error', error: 'internal_error: the log of the service has it.' };
