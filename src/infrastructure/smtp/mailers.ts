import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Mailer } from '../../application/accounts/ports.js';
import type { Message } from '../../domain/accounts/mailed-token.js';
import { resultWithin } from '../system/scheduling.js';

/** The most time for each step of a delivery or a check. */
const TIMEOUT_MS = 15_000;
/** The most time for a whole delivery. A server that sends a byte now and then would hold the queue of mails for ever. */
const DELIVERY_MS = 60_000;

export class SmtpMailer implements Mailer {
  readonly route = 'smtp';
  private readonly transport;

  /** `url` is `smtp://` or `smtps://`, with user and password if the server asks for them. */
  constructor(
    url: string,
    private readonly from: string,
    private readonly deliveryMs = DELIVERY_MS,
  ) {
    const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
    this.transport = createTransport({ url, ...timeouts });
  }

  async send(id: string, message: Message): Promise<string> {
    const sent = this.transport.sendMail(composeMail(id, message, this.from));
    sent.catch(() => undefined); // it may fail after the time is over
    if ((await resultWithin(sent, this.deliveryMs)) === null)
      throw new Error(`the mail server took longer than ${this.deliveryMs / 1_000} s`);
    return 'smtp';
  }

  /** Connects and signs in, but sends nothing. Throws if it cannot connect or sign in. */
  async verify(): Promise<void> {
    await this.transport.verify().finally(() => this.transport.close());
  }
}

/** Writes each message to an `.eml` file that only the service's user can read. A repeated mail replaces its file. */
export class FolderMailer implements Mailer {
  readonly route = 'outbox';
  private readonly transport = createTransport({ streamTransport: true, buffer: true });

  constructor(
    private readonly folder: string,
    private readonly from: string,
  ) {}

  async send(id: string, message: Message): Promise<string> {
    const { message: bytes } = await this.transport.sendMail(composeMail(id, message, this.from));
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const path = join(this.folder, `${id}.eml`);
    await writeFile(`${path}.part`, bytes as Buffer, { mode: 0o600 });
    await rename(`${path}.part`, path);
    return path;
  }
}

/** The longest line of RFC 5322, without its end. */
const LONGEST_LINE = 998;

/** Returns the message for nodemailer. A mail that is sent twice has the same Message-ID, so that it is recognized. */
const composeMail = (id: string, message: Message, from: string): SendMailOptions => ({
  from,
  to: message.to,
  subject: message.subject,
  alternatives: [part('text/plain', message.text), part('text/html', message.html)],
  messageId: `<${id}@${from.split('@').pop()?.replace('>', '') ?? 'tenon'}>`,
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** Returns a part of a mail. Does not encode plain ASCII, so that a link in an `.eml` file is in one piece. */
function part(type: string, content: string) {
  const contentType = `${type}; charset=utf-8`;
  const isPlain = /^[\n\x20-\x7e]*$/.test(content) && content.split('\n').every((line) => line.length < LONGEST_LINE);
  if (!isPlain) return { contentType, content };
  const head = `Content-Type: ${contentType}\r\nContent-Transfer-Encoding: 7bit\r\n\r\n`;
  return { contentType, raw: head + content.replaceAll('\n', '\r\n') };
}
