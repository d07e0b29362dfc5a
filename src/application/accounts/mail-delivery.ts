import { injectable } from 'inversify';
import { retryAt } from '../../domain/accounts/mailed-token.js';
import { Clock, Logger } from '../shared/ports.js';
import { Mailer, MailOutbox } from './ports.js';

/** Longer than any delivery takes, so that no two instances send the same mail. */
const LEASE_MS = 2 * 60 * 1000;

@injectable()
export class MailDelivery {
  constructor(
    private readonly outbox: MailOutbox,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Sends the mails that are due; a failed one is retried later. `signal` stops after the mail in delivery. */
  async deliverDue(signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted) {
      const now = this.clock.now();
      const mail = await this.outbox.take(now, new Date(now.getTime() + LEASE_MS));
      if (!mail) return;
      try {
        const where = await this.mailer.send(mail.id, mail.message);
        await this.outbox.delivered(mail.id, this.clock.now());
        this.log.info('mail delivered', { mail_id: mail.id, where });
      } catch (error) {
        const due = retryAt(mail.failures + 1, this.clock.now());
        this.log.warn('mail not delivered', { mail_id: mail.id, failures: mail.failures + 1, retry_at: due, error });
        await this.outbox.failed(mail.id, due);
      }
    }
  }
}
