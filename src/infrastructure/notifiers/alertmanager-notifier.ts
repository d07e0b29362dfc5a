import type { PageLinks } from '../../application/accounts/ports.js';
import { AlertNotifier, type Announcement, type DeliveryOutcome } from '../../application/alerts/ports.js';
import type { Clock } from '../../application/shared/ports.js';
import type { Alert } from '../../domain/alerts/alert.js';
import { postJson } from './post-json.js';

const PATH = '/api/v2/alerts';

/** An alert fires for this time after each post. So a restart of the service does not resolve it. */
const HOLD_MS = 60 * 60_000;

const hostOf = (url: string): string => new URL(url).host;

/** Posts alerts to every instance of Alertmanager: as firing until they are acknowledged, then as resolved. */
export class AlertmanagerNotifier extends AlertNotifier {
  readonly name = 'alertmanager';
  /** Alertmanager keeps alerts only in memory and resolves them after HOLD_MS, so they are repeated. */
  override readonly events = ['fired', 'acknowledged', 'repeated'] as const;
  /** The attempts take an hour, because Alertmanager resolves an acknowledged alert by itself after HOLD_MS. */
  override readonly retries = { attempts: 60, longestPauseMs: 60_000 };

  constructor(
    /** The base URLs of the instances, each with another host or port. */
    private readonly urls: readonly string[],
    private readonly links: PageLinks,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async receivers(): Promise<string[]> {
    return this.urls.map(hostOf);
  }

  async deliver({ receiver, alerts }: Announcement, signal: AbortSignal): Promise<DeliveryOutcome> {
    const url = this.urls.find((one) => hostOf(one) === receiver);
    return postJson(`${url}${PATH}`, alerts.map(this.entry), signal);
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
