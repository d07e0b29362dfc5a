import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { AlertRule, type RuleChange } from '../../domain/alerts/alert-rule.js';
import { NotFound } from '../../domain/shared/errors.js';
import { Audit } from '../audit/audit.js';
import { FINISHING } from '../jobs/finish-jobs.js';
import { Locks } from '../shared/ports.js';
import { AlertRuleRepository } from './ports.js';

interface Input {
  readonly by: Caller | null;
  readonly id: string;
}

/** In line with the jobs that finish, since these write what a rule has counted. */
@injectable()
export class ChangeAlertRule {
  constructor(
    private readonly line: Locks,
    private readonly rules: AlertRuleRepository,
    private readonly audit: Audit,
  ) {}

  /** Throws NotFound, InvalidRequest. */
  async execute({ by, id, ...change }: Input & RuleChange): Promise<AlertRule> {
    const caller = authorize(by, permissions.manageMonitoring);
    return this.line.run(FINISHING, async () => {
      const rule = AlertRule.change(await this.found(id), change);
      await this.rules.save([rule]);
      await this.audit.record({ by: caller, action: 'alert_rule.changed', object: rule, details: change });
      return rule;
    });
  }

  /** Its alerts stay. Throws NotFound. */
  async remove({ by, id }: Input): Promise<void> {
    const caller = authorize(by, permissions.manageMonitoring);
    await this.line.run(FINISHING, async () => {
      const rule = await this.found(id);
      await this.rules.remove(id);
      await this.audit.record({ by: caller, action: 'alert_rule.deleted', object: rule });
    });
  }

  private async found(id: string): Promise<AlertRule> {
    const rule = await this.rules.find(id);
    if (!rule) throw new NotFound('alert rule');
    return rule;
  }
}
