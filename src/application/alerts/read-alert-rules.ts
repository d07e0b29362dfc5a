import type { Caller } from '../../domain/access/caller.js';
import { authorize, permissions } from '../../domain/access/permission.js';
import type { AlertRule } from '../../domain/alerts/alert-rule.js';
import { NotFound } from '../../domain/shared/errors.js';
import type { AlertRules } from './ports/alert-rules.js';

export class ReadAlertRules {
  constructor(private readonly rules: AlertRules) {}

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
