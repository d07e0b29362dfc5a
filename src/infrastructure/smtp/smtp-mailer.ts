import { createTransport } from 'nodemailer';
import type { Mailer } from '../../application/accounts/ports.js';
import type { Message } from '../../domain/accounts/message.js';
import { composed } from './mail-composer.js';

/** Each step of a delivery must be over well before its lease. */
const TIMEOUT_MS = 15_000;

export class SmtpMailer implements Mailer {
  private readonly transport;

  /** `url` is `smtp://` or `smtps://`, with user and password where the server wants them. */
  constructor(
    url: string,
    private readonly from: string,
  ) {
    const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
    this.transport = createTransport({ url, ...timeouts });
  }

  async send(id: string, message: Message): Promise<string> {
    await this.transport.sendMail(composed(id, message, this.from));
    return 'smtp';
  }
}
