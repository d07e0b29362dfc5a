import { injectable } from 'inversify';
import { AccountRepository, MailOutbox, PageLinks, TeamRepository } from '../../application/accounts/ports.js';
import { alertMail } from '../../application/alerts/alert-mail.js';
import type { AlertNotifier } from '../../application/alerts/ports.js';
import { Clock, IdGenerator } from '../../application/shared/ports.js';
import { Account } from '../../domain/accounts/account.js';
import type { Alert } from '../../domain/alerts/alert.js';

/** Alert mails to one account within an hour, so that no mailbox is flooded. */
export const MOST_AN_HOUR = 30;
const HOUR_MS = 60 * 60 * 1000;

/** Mails the admins and developers of the operator team who ask for it: one mail for all alerts that fire at once. */
@injectable()
export class MailNotifier implements AlertNotifier {
  constructor(
    private readonly teams: TeamRepository,
    private readonly accounts: AccountRepository,
    private readonly outbox: MailOutbox,
    private readonly links: PageLinks,
    private readonly ids: IdGenerator,
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
