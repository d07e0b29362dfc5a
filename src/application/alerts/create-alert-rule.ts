import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import { AlertRule, type RuleInput, ruleLimits } from '../../domain/alerts/alert-rule.js';
import { TooManyRules } from '../../domain/alerts/errors.js';
import type { Audit } from '../audit/audit.js';
import { FINISHING } from '../jobs/finish-jobs.js';
import type { JobHistory } from '../jobs/ports/job-history.js';
import type { Clock } from '../shared/ports/clock.js';
import type { Identifiers } from '../shared/ports/identifiers.js';
import type { OneAtATime } from '../shared/ports/one-at-a-time.js';
import type { AlertRules } from './ports/alert-rules.js';

/** From the next job that finishes on the rule is asked; what failed before counts. */
export class CreateAlertRule {
  constructor(
    private readonly line: OneAtATime,
    private readonly rules: AlertRules,
    private readonly history: JobHistory,
    private readonly audit: Audit,
    private readonly ids: Identifiers,
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
