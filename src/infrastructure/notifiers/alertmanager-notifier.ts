import type { PageLinks } from '../../application/accounts/ports.js';
import { AlertNotifier, type AlertRepository } from '../../application/alerts/ports.js';
import type { Clock, Logger, WorkQueue } from '../../application/shared/ports.js';
import type { Alert } from '../../domain/alerts/alert.js';
import { postJson } from './post-json.js';

/** Names the task and its queue. The tasks of all instances run one after another in this queue. */
const TASK = 'post to alertmanager';

const PATH = '/api/v2/alerts';

/** An alert fires for this time after each post. So a restart of the service does not resolve it. */
const HOLD_MS = 60 * 60_000;

const PAUSE_MS = 60_000;
/** The attempts take an hour, because Alertmanager resolves an acknowledged alert by itself after HOLD_MS. */
const ATTEMPTS = 60;

/** The most alerts in one repeated post. Older alerts that still fire are not repeated. */
const MOST_REPEATED = 1_000;

/** If `alertIds` is null, the task posts all alerts that fire. */
type Task = { readonly alertIds: readonly string[] | null };

/**
 * Posts alerts to Alertmanager: as firing until they are acknowledged, then as resolved. A task reads the alerts when
 * it runs, and no two tasks run at once. So Alertmanager never gets an older state after a newer one.
 */
export class AlertmanagerNotifier extends AlertNotifier {
  /** Does nothing if `url` is null. */
  constructor(
    private readonly url: string | null,
    private readonly queue: WorkQueue,
    private readonly alerts: AlertRepository,
    private readonly links: PageLinks,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    super();
    if (url === null) return;
    queue.register(TASK, {
      atOnce: 1,
      longestPauseMs: PAUSE_MS,
      run: (payload, { signal }) => this.post(`${url}${PATH}`, payload as Task, signal),
      gaveUp: async (payload, reason) => log.error('alertmanager not told', { ...(payload as Task), reason }),
    });
  }

  async announce(alerts: readonly Alert[]): Promise<void> {
    if (this.url === null) return;
    const alertIds = alerts.map(({ id }) => id);
    await this.queue.enqueue(TASK, { alertIds }, { queueName: TASK, maxAttempts: ATTEMPTS });
  }

  override acknowledged(alert: Alert): Promise<void> {
    return this.announce([alert]);
  }

  /** Posts firing alerts again, because Alertmanager keeps them only in memory and resolves them after HOLD_MS. */
  override async repeat(): Promise<void> {
    if (this.url === null) return;
    await this.queue.enqueue(TASK, { alertIds: null }, { key: TASK, queueName: TASK, maxAttempts: 1 });
  }

  private async post(url: string, { alertIds }: Task, signal: AbortSignal): Promise<void> {
    const found = alertIds
      ? await Promise.all(alertIds.map((id) => this.alerts.find(id)))
      : await this.alerts.list('firing', { limit: MOST_REPEATED, after: null });
    const alerts = found.filter((alert) => alert !== null);
    if (alerts.length === 0) return;
    await postJson(url, alerts.map(this.entry), signal);
    if (alertIds) this.log.info('alertmanager told', { alert_ids: alertIds });
  }

  private readonly entry = (alert: Alert) => ({
    labels: {
      alertname: alert.ruleName,
      service: 'tenon',
      severity: alert.severity,
      rule_type: alert.ruleType,
      rule_id: alert.ruleId,
      alert_id: alert.id,
      job_id: alert.jobId,
    },
    annotations: { summary: alert.title, description: alert.message },
    startsAt: alert.createdAt,
    endsAt: this.endsAt(alert),
    generatorURL: this.links.alert(alert.id),
  });

  /** Returns the end of an alert. Alertmanager refuses an end before the beginning, and instances' clocks differ. */
  private endsAt({ createdAt, ackedAt }: Alert): Date {
    if (ackedAt === null) return new Date(this.clock.now().getTime() + HOLD_MS);
    return ackedAt < createdAt ? createdAt : ackedAt;
  }
}
