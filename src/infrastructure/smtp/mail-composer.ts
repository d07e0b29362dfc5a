import type { Message } from '../../domain/accounts/message.js';

/** What nodemailer needs of a message. The Message-ID is made from the mail's own id, so that a double can be told. */
export const composed = (id: string, message: Message, from: string) => ({
  from,
  to: message.to,
  subject: message.subject,
  alternatives: [part('text/plain', message.text), part('text/html', message.html)],
  messageId: `<${id}@${from.split('@').pop()?.replace('>', '') ?? 'tenon'}>`,
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** Plain ASCII goes out as it is, so that a person who looks into the file finds its link in one piece. */
function part(type: string, content: string) {
  const contentType = `${type}; charset=utf-8`;
  const asIs = /^[\n\x20-\x7e]*$/.test(content) && content.split('\n').every((line) => line.length < LONGEST_LINE);
  if (!asIs) return { contentType, content };
  const head = `Content-Type: ${contentType}\r\nContent-Transfer-Encoding: 7bit\r\n\r\n`;
  return { contentType, raw: head + content.replaceAll('\n', '\r\n') };
}

/** Of RFC 5322, the line end not counted. */
const LONGEST_LINE = 998;
