import type { SendMailOptions } from 'nodemailer';
import type { Message } from '../../domain/accounts/message.js';

/** The longest line of RFC 5322, without its end. */
const LONGEST_LINE = 998;

/** Returns the message for nodemailer. The Message-ID comes from the mail's own id, so that a mail sent twice is recognized. */
export const composeMail = (id: string, message: Message, from: string): SendMailOptions => ({
  from,
  to: message.to,
  subject: message.subject,
  alternatives: [part('text/plain', message.text), part('text/html', message.html)],
  messageId: `<${id}@${from.split('@').pop()?.replace('>', '') ?? 'tenon'}>`,
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** Sends plain ASCII unencoded, so that a link in the file is in one piece. */
function part(type: string, content: string) {
  const contentType = `${type}; charset=utf-8`;
  const isPlain = /^[\n\x20-\x7e]*$/.test(content) && content.split('\n').every((line) => line.length < LONGEST_LINE);
  if (!isPlain) return { contentType, content };
  const head = `Content-Type: ${contentType}\r\nContent-Transfer-Encoding: 7bit\r\n\r\n`;
  return { contentType, raw: head + content.replaceAll('\n', '\r\n') };
}
