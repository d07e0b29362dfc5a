import type { AccountRepository, PageLinks } from '../../application/accounts/ports.js';
import { AlertNotifier, type Announcement, type DeliveryOutcome } from '../../application/alerts/ports.js';
import type { Alert } from '../../domain/alerts/alert.js';
import { MASTER } from '../../domain/jobs/job.js';
import { postJson } from './post-json.js';

/** The most alerts that a message lists. The message counts the others. Slack accepts 50 blocks in a message. */
const MOST_LISTED = 10;
/** The most characters of each part of a block. Slack accepts 3,000 characters in a block. */
const LONGEST = { title: 300, name: 500, text: 2_000 };

/** Posts to an incoming webhook of Slack: one message for all alerts that fire at once, one for an acknowledgement. */
export class SlackNotifier extends AlertNotifier {
  readonly name = 'slack';
  override readonly events = ['fired', 'acknowledged'] as const;

  constructor(
    private readonly url: string,
    private readonly accounts: AccountRepository,
    private readonly links: PageLinks,
  ) {
    super();
  }

  async deliver({ event, alerts }: Announcement, signal: AbortSignal): Promise<DeliveryOutcome> {
    const isAcknowledged = event === 'acknowledged';
    const message = isAcknowledged ? await this.acknowledgement(alerts[0] as Alert) : this.announcement(alerts);
    return postJson(this.url, message, signal);
  }

  private announcement(alerts: readonly Alert[]) {
    const [severity] = alerts.map((alert) => alert.severity).sort();
    const text =
      alerts.length === 1 ? headline(alerts[0] as Alert) : `[${severity}] ${alerts.length} alerts have fired`;
    const beyond = alerts.length - MOST_LISTED;
    const blocks = alerts
      .slice(0, MOST_LISTED)
      .flatMap((alert) => [
        section(`*${headline(alert)}*\n${escaped(alert.message, LONGEST.text)}`),
        context(`Fired ${time(alert.createdAt)} · ${this.link(alert)}`),
      ]);
    return messageOf(text, beyond > 0 ? [...blocks, context(`And ${beyond} more: ${this.links.alerts()}`)] : blocks);
  }

  private async acknowledgement(alert: Alert) {
    const { ackedBy, ackedAt, note } = alert;
    const account = ackedBy === null || ackedBy === MASTER ? null : await this.accounts.byId(ackedBy);
    const who = account ? ` by ${escaped(account.name, LONGEST.name)}` : '';
    const text = `Acknowledged${who}: ${headline(alert)}`;
    const blocks = [section(note === null ? text : `${text}\n>${escaped(note, LONGEST.text).replace(/\s+/g, ' ')}`)];
    return messageOf(text, [...blocks, context(`${time(ackedAt ?? alert.createdAt)} · ${this.link(alert)}`)]);
  }

  private readonly link = ({ id }: Alert): string => `<${this.links.alert(id)}|${id}>`;
}

const messageOf = (text: string, blocks: readonly object[]) => ({ text, blocks, unfurl_links: false });

/** With `verbatim`, Slack makes links only from markup, not from addresses and names in the text. */
const markup = (text: string) => ({ type: 'mrkdwn', text, verbatim: true });
const section = (text: string) => ({ type: 'section', text: markup(text) });
const context = (text: string) => ({ type: 'context', elements: [markup(text)] });

const headline = ({ severity, title }: Alert): string => `[${severity}] ${escaped(title, LONGEST.title)}`;

/** Shows a time in the time zone of each reader. */
const time = (at: Date): string =>
  `<!date^${Math.floor(at.getTime() / 1_000)}^{date_short_pretty} {time_secs}|${at.toISOString()}>`;

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes the characters of links and mentions. Cuts the escaped text to at most `most` characters. */
function escaped(text: string, most: number): string {
  let shown = '';
  for (const character of text) {
    const next = ESCAPES[character] ?? character;
    if (shown.length + next.length >= most) return `${shown}…`;
    shown += next;
  }
  return shown;
}
