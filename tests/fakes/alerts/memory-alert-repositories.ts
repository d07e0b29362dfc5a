import type {
  Acknowledgement,
  AlertMail,
  AlertRepository,
  AlertRuleRepository,
  WebhookRepository,
} from '../../../src/application/alerts/ports.js';
import type { Page } from '../../../src/application/shared/ports.js';
import { Alert, type AlertStatus } from '../../../src/domain/alerts/alert.js';
import type { AlertRule } from '../../../src/domain/alerts/alert-rule.js';
import { type Delivery, Webhook } from '../../../src/domain/alerts/webhook.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryAlertRuleRepository implements AlertRuleRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<AlertRule>(store, 'alert_rules');
  }

  add = async (rule: AlertRule) => this.rows.put(rule.id, rule);

  find = async (id: string) => this.rows.get(id);

  all = async () => this.rows.newest(() => true);

  async save(rules: readonly AlertRule[]): Promise<void> {
    for (const rule of rules) this.rows.replace(rule.id, rule);
  }

  remove = async (id: string) => this.rows.remove(id);
}

export class MemoryAlertRepository implements AlertRepository {
  private readonly rows;
  private readonly mails;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<Alert>(store, 'alerts');
    this.mails = new MemoryTable<AlertMail>(store, 'alert_mails');
  }

  async add(alerts: readonly Alert[]): Promise<void> {
    for (const alert of alerts) {
      const known = this.rows.find(({ ruleId, jobId }) => ruleId === alert.ruleId && jobId === alert.jobId);
      if (!known) this.rows.put(alert.id, alert);
    }
  }

  find = async (id: string) => this.rows.get(id);

  async list(status: AlertStatus | null, page: Page): Promise<Alert[]> {
    return this.rows.newest((alert) => status === null || Alert.status(alert) === status, page);
  }

  async acknowledge(id: string, { at, by, note }: Acknowledgement): Promise<boolean> {
    const alert = this.rows.get(id);
    if (!alert || alert.ackedAt) return false;
    return this.rows.replace(id, { ...alert, ackedAt: at, ackedBy: by, note });
  }

  async addMail(mail: AlertMail): Promise<boolean> {
    const isNew = !this.mails.get(mail.id);
    if (isNew) this.mails.put(mail.id, mail);
    return isNew;
  }

  async countMails(accountId: string, since: Date): Promise<number> {
    return this.mails.all().filter((mail) => mail.accountId === accountId && mail.sentAt >= since).length;
  }
}

export class MemoryWebhookRepository implements WebhookRepository {
  private readonly rows;

  constructor(store: MemoryStore) {
    this.rows = new MemoryTable<{ readonly webhook: Webhook; readonly secret: string }>(store, 'webhooks');
  }

  add = async (webhook: Webhook, secret: string) => this.rows.put(webhook.id, { webhook, secret });

  async all(): Promise<Webhook[]> {
    const newestFirst = this.rows.newest(() => true);
    return newestFirst.reverse().map(({ webhook }) => webhook);
  }

  open = async (id: string) => this.rows.get(id);

  async note(id: string, delivery: Delivery): Promise<void> {
    const row = this.rows.get(id);
    if (!row) return;
    const enabled = row.webhook.enabled && !Webhook.isGone(delivery);
    this.rows.put(id, { ...row, webhook: { ...row.webhook, enabled, lastDelivery: delivery } });
  }

  remove = async (id: string) => this.rows.remove(id);
}
