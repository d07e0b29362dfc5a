import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { AlertRule, type RuleInput, ruleLimits } from '../../domain/alerts/alert-rule.js';
import { TooManyRules } from '../../domain/alerts/errors.js';
import { Audit } from '../audit/audit.js';
import { FINISHING } from '../jobs/finish-jobs.js';
import { JobHistory } from '../jobs/ports.js';
import { Clock, IdGenerator, Locks } from '../shared/ports.js';
import { AlertRuleRepository } from './ports.js';

/** From the next job that finishes on the rule is asked; what failed before counts. */
@injectable()
export class CreateAlertRule {
  constructor(
    private readonly line: Locks,
    private readonly rules: AlertRuleRepository,
    private readonly history: JobHistory,
    private readonly audit: Audit,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {}

  /** Throws InvalidRequest. */
  async execute({ by, ...typed }: RuleInput & { by: Caller | null }): Promise<AlertRule> {
    const caller = authorize(by, permissions.manageMonitoring);
    const rule = AlertRule.create({ ...typed, id: this.ids.next('rul'), createdAt: this.clock.now() });
    return this.line.run(FINISHING, async () => {
      const { rules: most, failures } = ruleLimits;
      if ((await this.rules.all()).length >= most) throw new TooManyRules(most);
      const failuresInARow = await this.history.failuresInARow(rule.jobKind, failures);
      const begun = { ...rule, failuresInARow };
      await this.rules.add(begun);
      const details = { rule_type: rule.ruleType, threshold: rule.threshold };
      await this.audit.record({ by: caller, action: 'alert_rule.created', object: rule, details });
      return begun;
    });
  }
}
