import type { Message } from '../../../domain/mail/message.js';
import { port } from '../../shared/port.js';

export interface Mailer {
  /**
   * Hands the message over for good and tells where it went, without its content or its links; throws when it could
   * not. `id` becomes the Message-ID, so that a message sent twice can be told.
   */
  send(id: string, message: Message): Promise<string>;
}
export const Mailer = port<Mailer>('mail.Mailer');
