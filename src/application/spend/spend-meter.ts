import { injectable } from 'inversify';
import type { Job } from '../../domain/jobs/job.js';
import { type BudgetScope, budgetScopes } from '../../domain/spend/budget.js';
import { type Nanos, nanosOfCost } from '../../domain/spend/cost.js';

export interface ProjectCost {
  /** `other` stands for all projects and models beyond the limit, `none` for a call without one. */
  readonly project: string;
  readonly model: string;
  readonly cost: Nanos;
}

/** Limits the pairs of a project and a model that are counted by themselves. */
const MOST_PAIRS = 500;

/** Counts what the calls that this instance has ended have cost, and which calls budgets have refused, for metrics. */
@injectable()
export class SpendMeter {
  private readonly byPair = new Map<string, ProjectCost>();
  private readonly refused = new Map<BudgetScope, number>(budgetScopes.map((scope) => [scope, 0]));

  /** Counts the cost of a call whose end is stored. */
  ended({ projectId, modelId, cost: text }: Pick<Job, 'projectId' | 'modelId' | 'cost'>): void {
    const cost = text === null ? 0n : nanosOfCost(text);
    if (cost === 0n) return;
    const pair = { project: projectId ?? 'none', model: modelId ?? 'none' };
    const isNew = !this.byPair.has(keyOf(pair));
    const counted = isNew && this.byPair.size >= MOST_PAIRS ? { project: 'other', model: 'other' } : pair;
    const known = this.byPair.get(keyOf(counted));
    this.byPair.set(keyOf(counted), { ...counted, cost: (known?.cost ?? 0n) + cost });
  }

  /** Counts a call that a budget of this scope has refused. */
  refusedBy(scope: BudgetScope): void {
    this.refused.set(scope, (this.refused.get(scope) ?? 0) + 1);
  }

  get costs(): readonly ProjectCost[] {
    return [...this.byPair.values()];
  }

  /** The refused calls by the scope of the budget. */
  get refusals(): readonly { readonly scope: BudgetScope; readonly count: number }[] {
    return [...this.refused].map(([scope, count]) => ({ scope, count }));
  }
}

const keyOf = ({ project, model }: Pick<ProjectCost, 'project' | 'model'>): string => `${project} ${model}`;
