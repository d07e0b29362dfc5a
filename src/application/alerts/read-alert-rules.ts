import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { AlertRule } from '../../domain/alerts/alert-rule.js';
import { NotFound } from '../../domain/shared/errors.js';
import { AlertRuleRepository } from './ports.js';

@injectable()
export class ReadAlertRules {
  constructor(private readonly rules: AlertRuleRepository) {}

  /** All there are, newest first. */
  async execute(input: { by: Caller | null }): Promise<AlertRule[]> {
    authorize(input.by, permissions.readMonitoring);
    return this.rules.all();
  }

  /** Throws NotFound. */
  async one(input: { by: Caller | null; id: string }): Promise<AlertRule> {
    authorize(input.by, permissions.readMonitoring);
    const rule = await this.rules.find(input.id);
    if (!rule) throw new NotFound('alert rule');
    return rule;
  }
}
