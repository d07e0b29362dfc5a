import type { AccountCaller, Caller } from '../accounts/caller.js';
import type { FinishedJob, Job } from '../jobs/job.js';
import { DomainError, type Finding, InvalidRequest } from '../shared/errors.js';
import { type Nanos, nanosOfNumber } from './cost.js';

/** The scopes, in the order in which a call takes its holds. */
export const budgetScopes = ['team', 'project', 'account', 'key'] as const;
export type BudgetScope = (typeof budgetScopes)[number];

export const budgetUnits = ['cost', 'tokens', 'calls', 'seconds'] as const;
export type BudgetUnit = (typeof budgetUnits)[number];

export const budgetPeriods = ['minute', 'hour', 'day', 'week', 'month', 'total'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

export const budgetActions = ['refuse', 'alert'] as const;
export type BudgetAction = (typeof budgetActions)[number];

/** Limits what calls may spend within each period. */
export interface Budget {
  readonly id: string;
  readonly teamId: string;
  readonly scope: BudgetScope;
  /** The id of the team, project, account or key. */
  readonly scopeId: string;
  readonly unit: BudgetUnit;
  /** In billionths of the unit. */
  readonly limit: Nanos;
  readonly period: BudgetPeriod;
  readonly onExceed: BudgetAction;
  /** The id of an account. Null: the master key. */
  readonly createdBy: string | null;
  /** True: only an admin may change or delete it. */
  readonly ofAdmin: boolean;
  readonly createdAt: Date;
}

/** The amount that the calls of a period have spent, and the one that running calls may still spend. In billionths of the unit. */
export interface Spent {
  readonly settled: Nanos;
  readonly held: Nanos;
}

export type BudgetInput = Pick<Budget, 'scope' | 'scopeId' | 'unit' | 'period' | 'onExceed'> & {
  readonly limit: number;
};

export interface BudgetChange {
  readonly limit?: number | undefined;
  readonly onExceed?: BudgetAction | undefined;
}

export type BudgetChanges = Partial<Pick<Budget, 'limit' | 'onExceed' | 'ofAdmin'>>;

export const budgetLimits = { budgets: 1_000, limit: 1_000_000_000_000 } as const;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The first Monday of the epoch. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

const lengths = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS } as const;

export const Budget = {
  /** Throws InvalidRequest. */
  create({ limit, ...input }: BudgetInput & Omit<Budget, keyof BudgetInput>): Budget {
    return { ...input, limit: limitOf(limit, input.unit) };
  },

  /** Returns the fields that change. Throws InvalidRequest. */
  changes({ unit }: Budget, { limit, onExceed }: BudgetChange): BudgetChanges {
    return { ...(limit !== undefined && { limit: limitOf(limit, unit) }), ...(onExceed && { onExceed }) };
  },

  /** Returns the first moment of the period, in UTC. The period `total` begins with the epoch. */
  start(period: BudgetPeriod, at: Date): Date {
    const ms = at.getTime();
    if (period === 'total') return new Date(0);
    if (period === 'month') return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()));
    if (period === 'week') return new Date(ms - ((ms - FIRST_MONDAY_MS) % (7 * DAY_MS)));
    return new Date(ms - (ms % lengths[period]));
  },

  /** Returns the first moment of the next period. Null: the period never ends. */
  resetsAt(period: BudgetPeriod, at: Date): Date | null {
    if (period === 'total') return null;
    const start = Budget.start(period, at);
    if (period === 'month') return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1));
    if (period === 'week') return new Date(start.getTime() + 7 * DAY_MS);
    return new Date(start.getTime() + lengths[period]);
  },

  /** Returns the time that tells the period of a job. A call belongs to the period of its arrival, as its holds do. */
  timeOf: ({ mode, createdAt, finishedAt }: Pick<FinishedJob, 'mode' | 'createdAt' | 'finishedAt'>): Date =>
    mode === 'sync' ? createdAt : finishedAt,

  /** Tells whether the budget limits what a call spends. */
  covers(
    { teamId, scope, scopeId }: Budget,
    job: Pick<Job, 'teamId' | 'projectId' | 'requestedBy' | 'usage'>,
  ): boolean {
    if (job.teamId !== teamId) return false;
    const { projectId: project, requestedBy: account, usage } = job;
    return { team: teamId, project, account, key: usage?.keyId ?? null }[scope] === scopeId;
  },

  /** Returns the ids of the scopes of all calls of the caller. A call also has the scope of its project. */
  scopesOf: (caller: AccountCaller): string[] => [
    caller.teamId,
    caller.accountId,
    ...(caller.kind === 'api_key' ? [caller.credentialId] : []),
  ],

  /** Admins see and change the budgets of their team. Other accounts see those of their keys. */
  isAdmin: (caller: Caller): boolean => caller.kind === 'master' || caller.role === 'admin',
};

function limitOf(limit: number, unit: BudgetUnit): Nanos {
  const nanos = limit >= 0 && limit <= budgetLimits.limit ? nanosOfNumber(limit) : null;
  const isWhole = unit === 'cost' || unit === 'seconds' || Number.isInteger(limit);
  if (nanos !== null && isWhole) return nanos;
  const kind = unit === 'cost' || unit === 'seconds' ? 'a number with at most nine decimal places' : 'a whole number';
  const finding: Finding = { path: 'limit', message: `must be ${kind} from 0 to ${budgetLimits.limit}` };
  throw new InvalidRequest([finding]);
}

const LONGEST_WAIT_S = 60;

/** A budget has no room for the call. */
export class BudgetExceeded extends DomainError {
  constructor(budget: Pick<Budget, 'id' | 'scope' | 'unit' | 'period'>, now: Date) {
    const { id, scope, unit, period } = budget;
    const resetsAt = Budget.resetsAt(period, now);
    const seconds = resetsAt ? Math.ceil((resetsAt.getTime() - now.getTime()) / 1_000) : Number.POSITIVE_INFINITY;
    const message = `The budget ${id} (${unit} of the ${scope}, for each ${period}) has no room for this call.`;
    super('busy', 'budget_exceeded', message, {
      details: [{ path: '', message, budget_id: id, scope }],
      retryAfterSeconds: Math.max(1, Math.min(LONGEST_WAIT_S, seconds)),
      ...(seconds > LONGEST_WAIT_S && { retryable: false }),
      headers: { 'X-Budget-Id': id },
    });
  }
}
