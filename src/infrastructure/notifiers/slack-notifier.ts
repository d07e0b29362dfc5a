import type { AccountRepository, PageLinks } from '../../application/accounts/ports.js';
import {
  AlertNotifier,
  type AlertRepository,
  type Announcement,
  type DeliveryOutcome,
} from '../../application/alerts/ports.js';
import type { Clock } from '../../application/shared/ports.js';
import type { Alert } from '../../domain/alerts/alert.js';
import { MASTER } from '../../domain/jobs/job.js';
import { postJson } from './post-json.js';

/** The most messages within an hour. */
export const MOST_AN_HOUR = 60;
const HOUR_MS = 60 * 60_000;
/** The pause of the one announcement that waits until the hour has room again. */
const WAIT_MS = 15 * 60_000;

/** The names under which messages are counted. */
const SENT = 'slack';
const LEFT_OUT = 'slack, left out';

const REMOVED_AT_ONCE = 1_000;

/** The most alerts that a message lists. The message counts the others. Slack accepts 50 blocks in a message. */
const MOST_LISTED = 10;
/** The most characters of each part of a block. Slack accepts 3,000 characters in a block. */
const LONGEST = { title: 300, name: 500, text: 2_000 };

/**
 * Posts to an incoming webhook of Slack: one message for all alerts that fire at once, one for an acknowledgement. Beyond
 * the limit of an hour, one announcement waits and the others are left out. The next message tells their number.
 */
export class SlackNotifier extends AlertNotifier {
  readonly name = 'slack';
  override readonly events = ['fired', 'acknowledged'] as const;

  constructor(
    private readonly url: string,
    private readonly accounts: AccountRepository,
    private readonly counted: AlertRepository,
    private readonly links: PageLinks,
    private readonly clock: Clock,
  ) {
    super();
  }

  async deliver({ event, alerts }: Announcement, signal: AbortSignal): Promise<DeliveryOutcome> {
    const sentAt = this.clock.now();
    const id = `slack ${event} ${alerts[0]?.id}`;
    const since = new Date(sentAt.getTime() - HOUR_MS);
    if ((await this.counted.countMessages(SENT, since)) >= MOST_AN_HOUR) return this.beyondLimit(id, sentAt);
    const isAcknowledged = event === 'acknowledged';
    const message = isAcknowledged ? await this.acknowledgement(alerts[0] as Alert) : this.announcement(alerts);
    const leftOut = await this.counted.countMessages(LEFT_OUT, new Date(0));
    const note = context(`${leftOut} messages before were left out: ${this.links.alerts()}`);
    const blocks = leftOut > 0 ? [...message.blocks, note] : message.blocks;
    const outcome = await postJson(this.url, { ...message, blocks }, signal);
    if (outcome.result === 'failed') await this.forget(id);
    if (outcome.result !== 'delivered') return outcome;
    await this.counted.addMessage({ id, receiver: SENT, sentAt });
    for (const receiver of [id, LEFT_OUT]) await this.forget(receiver);
    return outcome;
  }

  /** Removes the messages in small transactions, because a long storm may have left out very many. */
  private async forget(receiver: string): Promise<void> {
    while ((await this.counted.removeMessages(receiver, REMOVED_AT_ONCE)) === REMOVED_AT_ONCE);
  }

  /** Lets one announcement wait, through all its attempts. Leaves out the others. */
  private async beyondLimit(id: string, sentAt: Date): Promise<DeliveryOutcome> {
    const waits =
      (await this.counted.addMessage({ id: 'slack waits', receiver: id, sentAt })) ||
      (await this.counted.countMessages(id, new Date(0))) > 0;
    if (waits) return { result: 'retry', reason: `${MOST_AN_HOUR} messages within an hour`, pauseMs: WAIT_MS };
    await this.counted.addMessage({ id: `left out ${id}`, receiver: LEFT_OUT, sentAt });
    return { result: 'left_out' };
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
