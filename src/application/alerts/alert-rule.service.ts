import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Alert } from '../../domain/alerts/alert.js';
import { AlertRule, type RuleChange, type RuleInput, ruleLimits } from '../../domain/alerts/alert-rule.js';
import { InvalidRequest, LimitReached, NotFound } from '../../domain/shared/errors.js';
import { Budget } from '../../domain/spend/budget.js';
import { Audit } from '../audit/audit.service.js';
import { FINISHING } from '../jobs/job-finisher.js';
import { JobHistory } from '../jobs/ports.js';
import type { WithMemory } from '../shared/memory-budget.js';
import { Clock, IdGenerator, UnitOfWork } from '../shared/ports.js';
import { BudgetRepository } from '../spend/ports.js';
import { PastFacts } from './past-facts.js';
import { AlertRuleRepository } from './ports.js';

interface OfRule {
  readonly id: string;
}

/** A rule with its budget. Null: it has none, or the budget is deleted. */
export interface RuleWithBudget extends AlertRule {
  readonly budget: Budget | null;
}

/** A preview evaluates at most this many of the newest finished jobs. */
const PREVIEWED_JOBS = 10_000;

/** Memory for the alerts of a preview. Each job can fire an alert. */
const PREVIEW_BYTES = 2 * 1024 * 1024;

/** Manages alert rules. A change holds the lock `FINISHING`, because a finishing job writes the counters of rules. */
@injectable()
export class AlertRuleService {
  constructor(
    private readonly rules: AlertRuleRepository,
    private readonly history: JobHistory,
    private readonly budgets: BudgetRepository,
    private readonly unitOfWork: UnitOfWork,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Returns all rules, newest first. */
  async list(by: Caller | null): Promise<RuleWithBudget[]> {
    authorize(by, permissions.readMonitoring);
    return this.withBudgets(await this.rules.all());
  }

  /** Throws NotFound. */
  async read(by: Caller | null, { id }: OfRule): Promise<RuleWithBudget> {
    authorize(by, permissions.readMonitoring);
    return this.withBudget(await this.find(id));
  }

  /** Creates a rule. Failures before its creation count for its first alert. Throws InvalidRequest, LimitReached. */
  async create(by: Caller | null, input: RuleInput): Promise<RuleWithBudget> {
    const caller = authorize(by, permissions.manageMonitoring);
    const created = AlertRule.create({ ...input, id: this.ids.next('rul'), createdAt: this.clock.now() });
    return this.unitOfWork.locked(FINISHING, async () => {
      await this.budgetOf(created);
      if ((await this.rules.all()).length >= ruleLimits.rules) throw new LimitReached(ruleLimits.rules, 'alert rules');
      const failuresInARow = await this.history.failuresInARow(created.jobKind, ruleLimits.failures);
      const rule = { ...created, failuresInARow };
      await this.rules.add(rule);
      const details = { rule_type: rule.ruleType, threshold: rule.threshold };
      await this.audit.record({ by: caller, action: 'alert_rule.created', object: rule, details });
      return this.withBudget(rule);
    });
  }

  /** Throws NotFound, InvalidRequest. */
  async change(by: Caller | null, { id, ...change }: OfRule & RuleChange): Promise<RuleWithBudget> {
    const caller = authorize(by, permissions.manageMonitoring);
    return this.unitOfWork.locked(FINISHING, async () => {
      const rule = AlertRule.change(await this.find(id), change);
      await this.rules.save([rule]);
      await this.audit.record({ by: caller, action: 'alert_rule.changed', object: rule, details: change });
      return this.withBudget(rule);
    });
  }

  /** Deletes a rule and keeps its alerts. Throws NotFound. */
  async delete(by: Caller | null, { id }: OfRule): Promise<void> {
    const caller = authorize(by, permissions.manageMonitoring);
    await this.unitOfWork.locked(FINISHING, async () => {
      const rule = await this.find(id);
      await this.rules.remove(id);
      await this.audit.record({ by: caller, action: 'alert_rule.deleted', object: rule });
    });
  }

  /** Returns the alerts that the rule would have fired for the stored jobs. Stores nothing. Throws InvalidRequest. */
  async preview(
    by: Caller | null,
    { since, memory, ...input }: RuleInput & WithMemory & { since: Date | null },
  ): Promise<{ alerts: Alert[]; considered: number }> {
    authorize(by, permissions.readMonitoring);
    let rule = AlertRule.create({ ...input, id: '', createdAt: this.clock.now() });
    await memory.reserve(PREVIEW_BYTES);
    const past = new PastFacts(await this.budgetOf(rule));
    const alerts: Alert[] = [];
    let considered = 0;
    for await (const job of this.history.part({
      kind: rule.jobKind,
      since: past.since(rule, since),
      most: PREVIEWED_JOBS,
    })) {
      const facts = past.after(rule, job);
      const observed = AlertRule.observe(rule, job, facts);
      rule = observed.rule;
      if (since && job.finishedAt < since) continue;
      considered++;
      if (observed.fires) alerts.push(Alert.of(rule, job, '', facts));
    }
    return { alerts, considered };
  }

  /** Throws InvalidRequest if the rule names a budget that does not exist. */
  private async budgetOf({ budgetId }: AlertRule): Promise<Budget | null> {
    const [budget = null] = budgetId === null ? [] : await this.budgets.some([budgetId], this.clock.now());
    if (budgetId !== null && !budget)
      throw new InvalidRequest([{ path: 'budget_id', message: 'must be the id of a budget' }]);
    return budget;
  }

  private async withBudgets(rules: readonly AlertRule[]): Promise<RuleWithBudget[]> {
    const ids = rules.map(({ budgetId }) => budgetId).filter((id) => id !== null);
    const found = ids.length === 0 ? [] : await this.budgets.some(ids, this.clock.now());
    const budgets = new Map(found.map((budget) => [budget.id, budget]));
    return rules.map((rule) => ({ ...rule, budget: budgets.get(rule.budgetId ?? '') ?? null }));
  }

  private async withBudget(rule: AlertRule): Promise<RuleWithBudget> {
    const [withBudget] = await this.withBudgets([rule]);
    return withBudget as RuleWithBudget;
  }

  private async find(id: string): Promise<AlertRule> {
    const rule = await this.rules.find(id);
    if (!rule) throw new NotFound('alert rule');
    return rule;
  }
}
