import { AlertRule, type RuleFacts, ruleLimits } from '../../domain/alerts/alert-rule.js';
import { type CallCounts, CallWindow } from '../../domain/alerts/call-window.js';
import { type FinishedJob, Job } from '../../domain/jobs/job.js';
import { Budget } from '../../domain/spend/budget.js';
import { type Nanos, nanosOfCost, nanosOfNumber } from '../../domain/spend/cost.js';

interface PastCall {
  readonly at: number;
  readonly isCounted: boolean;
  readonly isBad: boolean;
}

/** Finds the facts that a rule needs from the jobs themselves, for a preview. Takes the jobs in their order. */
export class PastFacts {
  /** The calls of the window, the newest last. Those before `first` have left it. */
  private calls: PastCall[] = [];
  private first = 0;
  private counts: CallCounts = { calls: 0, bad: 0 };
  /** The settled amount of each period of the budget, by the start of the period. */
  private readonly settled = new Map<number, Nanos>();

  constructor(private readonly budget: Budget | null) {}

  /** Returns from when on the rule must see jobs, to know what happens since `since`. */
  since({ windowMinutes }: AlertRule, since: Date | null): Date | null {
    if (!since) return null;
    if (this.budget) return Budget.start(this.budget.period, since);
    return new Date(since.getTime() - (windowMinutes ?? 0) * 60_000);
  }

  /** Returns the facts after one more job, for `AlertRule.observe`. */
  after(rule: AlertRule, job: FinishedJob): RuleFacts {
    if (this.budget) return { use: { budget: this.budget, settled: this.settledAfter(this.budget, job) } };
    const window = AlertRule.window(rule, job);
    if (!window || job.mode !== 'sync') return {};
    this.leave(window.after.getTime());
    const { counts } = this;
    const call = {
      at: job.finishedAt.getTime(),
      isCounted: CallWindow.counts(window, job),
      isBad: CallWindow.isBad(window, job),
    };
    this.calls.push(call);
    this.count(call, 1);
    return { counts };
  }

  private settledAfter(budget: Budget, job: FinishedJob): Nanos {
    const start = Budget.start(budget.period, Budget.timeOf(job)).getTime();
    const before = this.settled.get(start) ?? 0n;
    const settled = before + (Budget.covers(budget, job) ? takenBy(job, budget) : 0n);
    this.settled.set(start, settled);
    return settled;
  }

  /** Forgets the calls that ended up to `after`, and those beyond the most that a window counts. */
  private leave(after: number): void {
    const isOut = (call: PastCall) => call.at <= after || this.calls.length - this.first > ruleLimits.calls;
    for (let call = this.calls[this.first]; call && isOut(call); call = this.calls[this.first]) {
      this.count(call, -1);
      this.first++;
    }
    if (this.first < ruleLimits.calls) return;
    this.calls = this.calls.slice(this.first);
    this.first = 0;
  }

  private count({ isCounted, isBad }: PastCall, by: 1 | -1): void {
    const { calls, bad } = this.counts;
    this.counts = { calls: calls + (isCounted ? by : 0), bad: bad + (isBad ? by : 0) };
  }
}

/**
 * Returns what a finished call has taken from a budget. A call that made nothing has taken nothing. The calls of an
 * evaluation count at its end.
 */
function takenBy({ status, usage, cost, ...job }: FinishedJob, { unit }: Budget): Nanos {
  if (!usage) return 0n;
  const { tokensIn, tokensOut, calls, seconds } = usage;
  const paid = cost === null ? 0n : nanosOfCost(cost);
  const hasMade = calls !== undefined || status === 'succeeded' || tokensIn !== null || paid > 0n;
  if (!hasMade) return 0n;
  if (unit === 'cost') return paid;
  if (unit === 'calls') return BigInt(calls ?? 1) * ONE;
  if (unit === 'tokens') return BigInt((tokensIn ?? 0) + (tokensOut ?? 0)) * ONE;
  return nanosOfNumber(seconds ?? Job.duration(job) ?? 0) ?? 0n;
}

const ONE = 1_000_000_000n;
