import { injectable } from 'inversify';
import { Not } from 'typeorm';
import type { Page } from '../../../application/shared/ports.js';
import type { BudgetFilter, BudgetRepository, CountedCalls, SpentBudget } from '../../../application/spend/ports.js';
import { usageBuckets, usageGroups } from '../../../domain/jobs/usage.js';
import { Budget, type BudgetChanges, type BudgetScope } from '../../../domain/spend/budget.js';
import { costText, nanosOfCost } from '../../../domain/spend/cost.js';
import { ENDED_CALLS } from '../jobs/ended-calls.js';
import { changesOne, defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** Amounts are read and written as text, so that no number of JavaScript rounds them. */
export interface BudgetRow extends Omit<Budget, 'limit'> {
  readonly limit: string;
  /** True: a limit of an API key, which nobody sees as a budget. */
  readonly isKeyLimit: boolean;
  /** The place of the scope in `budgetScopes`. */
  readonly rank?: number;
  /** A budget is deleted with its project, account or key. */
  readonly projectId?: string | null;
  readonly accountId?: string | null;
  readonly keyId?: string | null;
}

/** The database computes these columns. */
const computed = { select: false, insert: false, update: false } as const;

const amount = { type: 'numeric', precision: 38, scale: 9 } as const;

export const BudgetTable = defineTable<BudgetRow>('budgets', {
  id: { type: 'text', primary: true },
  teamId: { type: 'text' },
  scope: { type: 'text' },
  scopeId: { type: 'text' },
  rank: { type: 'smallint', ...computed },
  projectId: { type: 'text', nullable: true, ...computed },
  accountId: { type: 'text', nullable: true, ...computed },
  keyId: { type: 'text', nullable: true, ...computed },
  unit: { type: 'text' },
  limit: amount,
  period: { type: 'text' },
  onExceed: { type: 'text' },
  createdBy: { type: 'text', nullable: true },
  ofAdmin: { type: 'boolean' },
  createdAt: { type: 'timestamptz' },
  isKeyLimit: { type: 'boolean' },
});

interface PeriodRow {
  readonly budgetId: string;
  readonly start: Date;
  readonly settled: string;
  readonly held: string;
}

export const BudgetPeriodTable = defineTable<PeriodRow>('budget_periods', {
  budgetId: { type: 'text', primary: true },
  start: { type: 'timestamptz', primary: true },
  settled: amount,
  held: amount,
});

/** The holds of a call, in the order of the budgets. */
interface HoldRow {
  readonly callId: string;
  readonly instance: number;
  readonly budgetIds: readonly string[];
  readonly starts: readonly Date[];
  readonly amounts: readonly string[];
  /** The bounds of the call, and what it takes of each unit: `Linear`. */
  readonly mostTokens: string | null;
  readonly mostMs: string;
  readonly units: object;
  readonly takenAt: Date;
}

export const BudgetHoldTable = defineTable<HoldRow>('budget_holds', {
  callId: { type: 'text', primary: true },
  instance: { type: 'integer' },
  budgetIds: { type: 'text', array: true },
  starts: { type: 'timestamptz', array: true },
  amounts: { type: 'numeric', array: true },
  mostTokens: { type: 'numeric', nullable: true },
  mostMs: { type: 'numeric' },
  units: { type: 'jsonb' },
  takenAt: { type: 'timestamptz' },
});

export const budgetOf = ({ limit, isKeyLimit: _, ...row }: BudgetRow): Budget => ({
  ...row,
  limit: nanosOfCost(limit),
});
const rowOf = ({ limit, ...budget }: Budget): BudgetRow => ({
  ...budget,
  limit: costText(limit),
  isKeyLimit: false,
});

/** The calls of the newest days are counted one by one, because calls are stored for 30 days. */
const COUNTED_DAYS_MS = 29 * 24 * 60 * 60 * 1_000;
const firstDay = (now: Date): Date => Budget.start('day', new Date(now.getTime() - COUNTED_DAYS_MS));

/** A statement counts the calls that ended within this time, so that none takes longer than the database allows. */
const PIECE_MS = 6 * 60 * 60 * 1_000;

/** Sums up calls of a scope in a period. A call that made nothing is no call. */
const ofCalls = (which: string): string => `
  SELECT sum(CASE $3
           WHEN 'cost' THEN coalesce(cost, 0)
           WHEN 'tokens' THEN coalesce((usage->>'tokensIn')::numeric, 0) + coalesce((usage->>'tokensOut')::numeric, 0)
           WHEN 'calls' THEN 1
           ELSE seconds END)
    FROM ${ENDED_CALLS} AS call
   WHERE team_id = $4 AND created_at >= $2 AND ${which}
     AND (status = 'succeeded' OR usage->>'tokensIn' IS NOT NULL OR cost > 0)
     AND $6 = CASE $5 WHEN 'team' THEN team_id WHEN 'project' THEN project_id WHEN 'account' THEN requested_by
                      ELSE usage->>'keyId' END`;

/** Sums up the usage of earlier days. It has neither exact times nor the cancelled calls that made nothing. */
const OF_DAYS = `
  SELECT sum(CASE $3
           WHEN 'cost' THEN coalesce((sums->>6)::numeric, 0) / 1000000000
           WHEN 'tokens' THEN (sums->>1)::numeric + (sums->>2)::numeric
           WHEN 'calls' THEN (sums->>0)::numeric - (SELECT coalesce(sum(failed::numeric), 0)
                                                      FROM json_each_text(sums->3) AS failure (code, failed)) END)
    FROM usage_rollups
   WHERE bucket = ${usageBuckets.indexOf('day')} AND start >= $2 AND start < $7
     AND scope = (SELECT id FROM usage_names WHERE name = $4)
     AND grouped_by = array_position(ARRAY['team', '${usageGroups.join("', '")}'], $5) - 1
     AND "group" = (SELECT id FROM usage_names WHERE name = CASE $5 WHEN 'team' THEN '' ELSE $6 END)`;

const OF_PIECE = `SELECT coalesce((${ofCalls('finished_at >= $1 AND finished_at < $7 AND finish_number <= $8')}), 0) AS taken`;

const BEGIN = `
  INSERT INTO budget_periods (budget_id, start, settled)
  SELECT $1, $2, $9::numeric + coalesce((${OF_DAYS}), 0)
         + coalesce((${ofCalls('finished_at >= greatest($2, $7) AND finish_number > $8')}), 0)`;

const LAST_END = 'SELECT last_value AS "upTo" FROM job_finish_numbers';

const SPENT = `
  SELECT budget.*,
         coalesce(of_period.settled, 0)::numeric(38, 9) AS settled, coalesce(of_period.held, 0)::numeric(38, 9) AS held
    FROM budgets budget LEFT JOIN budget_periods of_period
      ON of_period.budget_id = budget.id AND of_period.start = budget_start(budget.period, $1)`;

const TEAMS: Readonly<Record<BudgetScope, string>> = {
  team: 'SELECT id AS team FROM teams WHERE id = $1',
  project: 'SELECT team_id AS team FROM projects WHERE id = $1',
  account: 'SELECT team_id AS team FROM accounts WHERE id = $1',
  key: `SELECT a.team_id AS team FROM credentials c JOIN accounts a ON a.id = c.account_id
         WHERE c.id = $1 AND c.kind = 'api_key'`,
};

interface SpentRow {
  readonly id: string;
  readonly team_id: string;
  readonly scope: Budget['scope'];
  readonly scope_id: string;
  readonly unit: Budget['unit'];
  readonly limit: string;
  readonly period: Budget['period'];
  readonly on_exceed: Budget['onExceed'];
  readonly created_by: string | null;
  readonly of_admin: boolean;
  readonly created_at: Date;
  readonly settled: string;
  readonly held: string;
}

const spentOf = (row: SpentRow): SpentBudget => ({
  id: row.id,
  teamId: row.team_id,
  scope: row.scope,
  scopeId: row.scope_id,
  unit: row.unit,
  limit: nanosOfCost(row.limit),
  period: row.period,
  onExceed: row.on_exceed,
  createdBy: row.created_by,
  ofAdmin: row.of_admin,
  createdAt: row.created_at,
  spent: { settled: nanosOfCost(row.settled), held: nanosOfCost(row.held) },
});

@injectable()
export class TypeOrmBudgetRepository implements BudgetRepository {
  private readonly table = () => this.unitOfWork.repository(BudgetTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async lastEnd(): Promise<string> {
    const [row] = await this.unitOfWork.query<{ upTo: string }>(LAST_END);
    return row?.upTo ?? '0';
  }

  async counted({ period, createdAt, unit, teamId, scope, scopeId }: Budget, upTo: string): Promise<CountedCalls> {
    const start = Budget.start(period, createdAt);
    let taken = 0n;
    let from = Math.max(start.getTime(), firstDay(createdAt).getTime());
    while (from <= createdAt.getTime()) {
      const isLast = from + PIECE_MS > createdAt.getTime();
      const to = isLast ? 'infinity' : new Date(from + PIECE_MS);
      const values = [new Date(from), start, unit, teamId, scope, scopeId, to, upTo];
      const [row] = await this.unitOfWork.query<{ taken: string }>(OF_PIECE, values);
      taken += nanosOfCost(row?.taken ?? '0');
      from += PIECE_MS;
    }
    return { start, upTo, taken };
  }

  async add(budget: Budget, counted: CountedCalls | null = null): Promise<void> {
    const { id, period, createdAt, unit, teamId, scope, scopeId } = budget;
    const start = Budget.start(period, createdAt);
    const isOfPeriod = counted?.start.getTime() === start.getTime();
    const { upTo, taken } = isOfPeriod ? counted : { upTo: '0', taken: 0n };
    await this.unitOfWork.run(async () => {
      await this.table().insert(rowOf(budget));
      const about = [id, start, unit, teamId, scope, scopeId, firstDay(createdAt), upTo, costText(taken)];
      await this.unitOfWork.query(BEGIN, about);
    });
  }

  async find(id: string, now: Date): Promise<SpentBudget | null> {
    const [row] = await this.unitOfWork.query<SpentRow>(`${SPENT} WHERE budget.id = $2 AND NOT is_key_limit`, [
      now,
      id,
    ]);
    return row ? spentOf(row) : null;
  }

  async some(ids: readonly string[], now: Date): Promise<SpentBudget[]> {
    const found = `${SPENT} WHERE NOT is_key_limit AND budget.id = ANY ($2)`;
    return (await this.unitOfWork.query<SpentRow>(found, [now, ids])).map(spentOf);
  }

  async list({ teamId, keys, only = null }: BudgetFilter, { limit, after }: Page, now: Date): Promise<SpentBudget[]> {
    const rows = await this.unitOfWork.query<SpentRow>(
      `${SPENT} WHERE NOT is_key_limit AND ($2::text IS NULL OR team_id = $2) AND ($3::text[] IS NULL OR scope = 'key' AND scope_id = ANY ($3))
          AND ($4::text IS NULL OR budget.id < $4) AND ($6::text[] IS NULL OR scope_id = ANY ($6)) ORDER BY budget.id DESC LIMIT $5`,
      [now, teamId, keys ?? null, after, limit, only],
    );
    return rows.map(spentOf);
  }

  count(teamId: string): Promise<number> {
    return this.table().countBy({ teamId, isKeyLimit: false });
  }

  limitCost(teamId: string, projectId: string): Promise<boolean> {
    const others = { teamId, unit: 'cost', scope: Not<BudgetScope>('project') } as const;
    return this.table().existsBy([others, { teamId, unit: 'cost', scopeId: projectId }]);
  }

  update(id: string, { limit, ...others }: BudgetChanges): Promise<boolean> {
    const changes = { ...others, ...(limit !== undefined && { limit: costText(limit) }) };
    return changesOne(this.table().update({ id }, changes));
  }

  remove(id: string): Promise<boolean> {
    return changesOne(this.table().delete({ id }));
  }

  async teamOf(scope: BudgetScope, scopeId: string): Promise<string | null> {
    const [row] = await this.unitOfWork.query<{ team: string }>(TEAMS[scope], [scopeId]);
    return row?.team ?? null;
  }

  async keysOf(accountId: string): Promise<string[]> {
    const keys = `SELECT id FROM credentials WHERE account_id = $1 AND kind = 'api_key'`;
    return (await this.unitOfWork.query<{ id: string }>(keys, [accountId])).map(({ id }) => id);
  }
}
