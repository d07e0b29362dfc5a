import { injectable } from 'inversify';
import { retryAt } from '../../domain/accounts/message.js';
import { Clock, Logger } from '../shared/ports.js';
import { Mailer, MailOutbox } from './ports.js';

/** Longer than any one delivery may take, so that no two senders have the same mail in hand. */
const LEASE_MS = 2 * 60 * 1000;

/** Sends what is due. A mail whose delivery fails is tried again later; a sender that dies loses nothing but its lease. */
@injectable()
export class DeliverMail {
  constructor(
    private readonly outbox: MailOutbox,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Until nothing is due, or until `signal` is aborted: then after the mail in hand. */
  async execute(signal?: AbortSignal): Promise<void> {
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
