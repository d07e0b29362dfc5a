import type { Accounts } from '../../application/accounts/ports/accounts.js';
import type { Links } from '../../application/accounts/ports/links.js';
import type { Teams } from '../../application/accounts/ports/teams.js';
import { alertMail } from '../../application/alerts/alert-mail.js';
import type { AlertNotifier } from '../../application/alerts/ports/alert-notifier.js';
import type { Outbox } from '../../application/mail/ports/outbox.js';
import type { Clock } from '../../application/shared/ports/clock.js';
import type { Identifiers } from '../../application/shared/ports/identifiers.js';
import { Account } from '../../domain/accounts/account.js';
import type { Alert } from '../../domain/alerts/alert.js';

/** However many alerts fire, nobody's mailbox is flooded, and other mail gets through. */
export const MOST_AN_HOUR = 30;
const HOUR_MS = 60 * 60 * 1000;

/** Mails the admins and developers of the operator team who ask for it: one mail for all alerts that fire at once. */
export class MailNotifier implements AlertNotifier {
  constructor(
    private readonly teams: Teams,
    private readonly accounts: Accounts,
    private readonly outbox: Outbox,
    private readonly links: Links,
    private readonly ids: Identifiers,
    private readonly clock: Clock,
  ) {}

  async announce(alerts: readonly Alert[]): Promise<void> {
    const team = await this.teams.operator();
    if (!team) return;
    const wanting = await this.accounts.wantingAlerts(team.id);
    for (const account of wanting.filter(Account.isMailedAlerts)) await this.mail(account, alerts);
  }

  private async mail({ id: accountId, name, email }: Account, alerts: readonly Alert[]): Promise<void> {
    const series = `alerts ${accountId}`;
    const now = this.clock.now();
    const sent = await this.outbox.countOf(series, new Date(now.getTime() - HOUR_MS));
    if (sent >= MOST_AN_HOUR) return;
    const message = alertMail({ name, address: email }, alerts, this.links, sent + 1 === MOST_AN_HOUR);
    await this.outbox.add({ id: this.ids.next('msg'), message, dueAt: now, series });
  }
}
