import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import { Alert } from '../../domain/alerts/alert.js';
import { AlertRule, type RuleInput } from '../../domain/alerts/alert-rule.js';
import { JobHistory } from '../jobs/ports.js';
import { Clock } from '../shared/ports.js';

/** The newest jobs that a preview looks at. */
export const PREVIEWED = 10_000;

interface Input extends RuleInput {
  readonly by: Caller | null;
  readonly since: Date | null;
}

/** What a rule would have fired, had it been there when the stored jobs finished. Stores nothing. */
@injectable()
export class PreviewAlertRule {
  constructor(
    private readonly history: JobHistory,
    private readonly clock: Clock,
  ) {}

  /** Throws InvalidRequest. */
  async execute({ by, since, ...typed }: Input): Promise<{ alerts: Alert[]; considered: number }> {
    authorize(by, permissions.readMonitoring);
    let rule = AlertRule.create({ ...typed, id: '', createdAt: this.clock.now() });
    const alerts: Alert[] = [];
    let considered = 0;
    for await (const job of this.history.part({ kind: rule.jobKind, since, most: PREVIEWED })) {
      considered++;
      const observed = AlertRule.observe(rule, job);
      if (observed.fires) alerts.push(Alert.of(rule, job, ''));
      rule = observed.rule;
    }
    return { alerts, considered };
  }
}
