import type { Message } from '../../../domain/mail/message.js';
import { port } from '../../shared/port.js';

export interface OutgoingMail {
  readonly id: string;
  readonly message: Message;
  /** How many deliveries have failed so far. */
  readonly failures: number;
}

/** Mail that waits to be sent. Added within the unit of work that it tells of, so that neither exists without the other. */
export interface Outbox {
  /** Mails of one `series` can be counted. */
  add(mail: { id: string; message: Message; dueAt: Date; series?: string }): Promise<void>;
  /** The mails of a series that were added with a `dueAt` of `since` or later, delivered or not. */
  countOf(series: string, since: Date): Promise<number>;
  /**
   * The mail that has been due longest, now leased to this caller: nobody else gets it before `leasedUntil`.
   * Null when nothing is due.
   */
  take(now: Date, leasedUntil: Date): Promise<OutgoingMail | null>;
  /** The mail is out: its content is wiped and it is never given again. */
  delivered(id: string, at: Date): Promise<void>;
  /** The delivery failed: the mail is due again at `dueAt`. */
  failed(id: string, dueAt: Date): Promise<void>;
}
export const Outbox = port<Outbox>('mail.Outbox');
