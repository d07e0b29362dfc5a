import { createTransport } from 'nodemailer';
import type { Mailer } from '../../application/accounts/ports.js';
import type { Message } from '../../domain/accounts/message.js';
import { composeMail } from './compose-mail.js';

/** For each step of a delivery, and of a check. */
const TIMEOUT_MS = 15_000;

export class SmtpMailer implements Mailer {
  private readonly transport;

  /** `url` is `smtp://` or `smtps://`, with user and password if the server asks for them. */
  constructor(
    url: string,
    private readonly from: string,
  ) {
    const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
    this.transport = createTransport({ url, ...timeouts });
  }

  async send(id: string, message: Message): Promise<string> {
    await this.transport.sendMail(composeMail(id, message, this.from));
    return 'smtp';
  }

  /** Connects and signs in, and sends nothing. Throws if that fails. */
  async verify(): Promise<void> {
    await this.transport.verify().finally(() => this.transport.close());
  }
}
