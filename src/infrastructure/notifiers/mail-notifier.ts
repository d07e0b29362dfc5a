import { injectable } from 'inversify';
import { MailQueue } from '../../application/accounts/mail-queue.js';
import { AccountRepository, PageLinks, TeamRepository } from '../../application/accounts/ports.js';
import { alertMail } from '../../application/alerts/alert-mail.js';
import {
  AlertNotifier,
  AlertRepository,
  type Announcement,
  type DeliveryOutcome,
} from '../../application/alerts/ports.js';
import { Clock, UnitOfWork } from '../../application/shared/ports.js';
import { Account } from '../../domain/accounts/account.js';

/** The most alert mails to one account within an hour. */
export const MOST_AN_HOUR = 30;
const HOUR_MS = 60 * 60 * 1000;

/**
 * Mails alerts to admins and developers of the operator team who want them: one mail for all that fire at once. A
 * delivery adds a mail to the mail queue, which has retries of its own.
 */
@injectable()
export class MailNotifier extends AlertNotifier {
  readonly name = 'mail';

  constructor(
    private readonly teams: TeamRepository,
    private readonly accounts: AccountRepository,
    private readonly sent: AlertRepository,
    private readonly mails: MailQueue,
    private readonly unitOfWork: UnitOfWork,
    private readonly links: PageLinks,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async receivers(): Promise<string[]> {
    return (await this.wanting()).map(({ id }) => id);
  }

  deliver({ receiver, alerts }: Announcement, signal: AbortSignal): Promise<DeliveryOutcome> {
    return this.unitOfWork.run(async () => {
      signal.throwIfAborted();
      const account = (await this.wanting()).find(({ id }) => id === receiver);
      return { result: account ? await this.mail(account, alerts) : 'delivered' };
    });
  }

  private async wanting(): Promise<Account[]> {
    const team = await this.teams.operator();
    return team ? (await this.accounts.wantingAlerts(team.id)).filter(Account.isMailedAlerts) : [];
  }

  private async mail({ id: receiver, name, email }: Account, alerts: Announcement['alerts']) {
    const sentAt = this.clock.now();
    const sent = await this.sent.countMessages(receiver, new Date(sentAt.getTime() - HOUR_MS));
    if (sent >= MOST_AN_HOUR) return 'left_out';
    // An attempt whose end was not stored has already added this mail.
    if (await this.sent.addMessage({ id: `${receiver} ${alerts[0]?.id}`, receiver, sentAt }))
      await this.mails.add(alertMail({ name, address: email }, alerts, this.links, sent + 1 === MOST_AN_HOUR));
    return 'delivered';
  }
}
