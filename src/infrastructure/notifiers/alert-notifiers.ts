import { injectable } from 'inversify';
import { MailQueue } from '../../application/accounts/mail-queue.js';
import { AccountRepository, PageLinks, TeamRepository } from '../../application/accounts/ports.js';
import { alertMail } from '../../application/alerts/alert-mail.js';
import { AlertNotifier, AlertRepository, WebhookRepository } from '../../application/alerts/ports.js';
import { FAN_OUT } from '../../application/alerts/webhook-delivery.js';
import { Clock, IdGenerator, WorkQueue } from '../../application/shared/ports.js';
import { Account } from '../../domain/accounts/account.js';
import type { Alert } from '../../domain/alerts/alert.js';

/** The most alert mails to one account within an hour. */
export const MOST_AN_HOUR = 30;
const HOUR_MS = 60 * 60 * 1000;

/** Mails alerts to admins and developers of the operator team who want them: one mail for all that fire at once. */
@injectable()
export class MailNotifier extends AlertNotifier {
  constructor(
    private readonly teams: TeamRepository,
    private readonly accounts: AccountRepository,
    private readonly sent: AlertRepository,
    private readonly mails: MailQueue,
    private readonly links: PageLinks,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
  ) {
    super();
  }

  async announce(alerts: readonly Alert[]): Promise<void> {
    const team = await this.teams.operator();
    if (!team) return;
    const wanting = await this.accounts.wantingAlerts(team.id);
    for (const account of wanting.filter(Account.isMailedAlerts)) await this.mail(account, alerts);
  }

  private async mail({ id: accountId, name, email }: Account, alerts: readonly Alert[]): Promise<void> {
    const sentAt = this.clock.now();
    const sent = await this.sent.countMails(accountId, new Date(sentAt.getTime() - HOUR_MS));
    if (sent >= MOST_AN_HOUR) return;
    await this.mails.add(alertMail({ name, address: email }, alerts, this.links, sent + 1 === MOST_AN_HOUR));
    await this.sent.addMail({ id: this.ids.next('msg'), accountId, sentAt });
  }
}

/** The alerts in one task. So the end of a job needs few SQL statements, even if thousands of alerts fire at once. */
const BATCH = 20;

/** Queues the delivery of alerts to every webhook that is enabled at this moment. */
@injectable()
export class WebhookNotifier extends AlertNotifier {
  constructor(
    private readonly webhooks: WebhookRepository,
    private readonly queue: WorkQueue,
  ) {
    super();
  }

  async announce(alerts: readonly Alert[]): Promise<void> {
    const enabled = (await this.webhooks.all()).filter((webhook) => webhook.enabled);
    if (enabled.length === 0) return;
    const webhookIds = enabled.map(({ id }) => id);
    for (let from = 0; from < alerts.length; from += BATCH) {
      const alertIds = alerts.slice(from, from + BATCH).map(({ id }) => id);
      await this.queue.enqueue(FAN_OUT, { webhookIds, alertIds });
    }
  }
}
