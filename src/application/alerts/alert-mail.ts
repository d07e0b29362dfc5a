import { escapeHtml, type Message } from '../../domain/accounts/mailed-token.js';
import type { Alert } from '../../domain/alerts/alert.js';
import type { PageLinks } from '../accounts/ports.js';

/** A mail lists at most this many alerts and counts the others. */
const MOST_LISTED = 20;

/** Returns the e-mail about alerts that fired together. `last` adds that no other e-mail follows within an hour. */
export function alertMail(to: Message['to'], alerts: readonly Alert[], links: PageLinks, last: boolean): Message {
  const listed = alerts.slice(0, MOST_LISTED).map((alert) => ({ ...alert, link: links.alert(alert.id) }));
  const [severity] = alerts.map((alert) => alert.severity).sort();
  const [first] = alerts;
  const beyond = alerts.length - listed.length;
  const ending = [
    ...(beyond > 0 ? [`And ${beyond} more: GET ${links.alerts()}`] : []),
    ...(last ? [`This is the last such message within an hour. Until then: GET ${links.alerts()}`] : []),
    'You get this because you have switched on alerts by e-mail. To switch them off, send {"alert_emails": false} with ' +
      `PATCH ${links.ownAccount()}`,
  ];
  return {
    to,
    subject: `[${severity}] ${alerts.length === 1 ? first?.title : `${alerts.length} alerts have fired`}`,
    text: [`Hello ${to.name},`, ...listed.map(asText), ...ending].join('\n\n').concat('\n'),
    html: `<!doctype html>
<html lang="en"><body style="font-family: sans-serif; line-height: 1.5">
<p>Hello ${escapeHtml(to.name)},</p>
${listed.map(asHtml).join('\n')}
${ending.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n')}
</body></html>
`,
  };
}

type ListedAlert = Alert & { readonly link: string };

const asText = ({ severity, title, message, createdAt, link }: ListedAlert) => `[${severity}] ${title}
${message}
Fired at ${createdAt.toISOString()}.
To read it: GET ${link}
To acknowledge it: POST ${link}/ack`;

const asHtml = ({
  severity,
  title,
  message,
  createdAt,
  link,
}: ListedAlert) => `<h2>${escapeHtml(`[${severity}] ${title}`)}</h2>
<p>${escapeHtml(message)}<br>Fired at ${createdAt.toISOString()}.</p>
<p>To read it: <code>GET ${escapeHtml(link)}</code><br>
To acknowledge it: <code>POST ${escapeHtml(link)}/ack</code></p>`;
