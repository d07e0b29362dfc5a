import type { AccountRepository, PageLinks } from '../../application/accounts/ports.js';
import { AlertNotifier, type AlertRepository } from '../../application/alerts/ports.js';
import type { Logger, WorkQueue } from '../../application/shared/ports.js';
import type { Alert } from '../../domain/alerts/alert.js';
import { MASTER } from '../../domain/jobs/job.js';
import { postJson } from './post-json.js';

/** Names the task and its queue. All tasks run one after another, because Slack accepts one message per second. */
const TASK = 'post to slack';

/** The last attempt is a day and a half after the first. */
const ATTEMPTS = 150;
const LONGEST_PAUSE_MS = 15 * 60_000;

/** The most alerts that a message lists. The message counts the others. Slack accepts 50 blocks in a message. */
const MOST_LISTED = 10;
/** The most characters of each part of a block. Slack accepts 3,000 characters in a block. */
const LONGEST = { title: 300, name: 500, text: 2_000 };

type Task = { readonly alertIds: readonly string[]; readonly acknowledged: boolean };

/** Posts to an incoming webhook of Slack: one message for all alerts that fire at once, one for an acknowledgement. */
export class SlackNotifier extends AlertNotifier {
  /** Does nothing if `url` is null. */
  constructor(
    private readonly url: string | null,
    private readonly queue: WorkQueue,
    private readonly alerts: AlertRepository,
    private readonly accounts: AccountRepository,
    private readonly links: PageLinks,
    private readonly log: Logger,
  ) {
    super();
    if (url === null) return;
    queue.register(TASK, {
      atOnce: 1,
      longestPauseMs: LONGEST_PAUSE_MS,
      run: (payload, { signal }) => this.post(url, payload as Task, signal),
      gaveUp: async (payload, reason) => log.error('slack not told', { ...(payload as Task), reason }),
    });
  }

  announce(alerts: readonly Alert[]): Promise<void> {
    return this.enqueue(alerts, false);
  }

  override acknowledged(alert: Alert): Promise<void> {
    return this.enqueue([alert], true);
  }

  private async enqueue(alerts: readonly Alert[], acknowledged: boolean): Promise<void> {
    if (this.url === null) return;
    const alertIds = alerts.map(({ id }) => id);
    await this.queue.enqueue(TASK, { alertIds, acknowledged }, { queueName: TASK, maxAttempts: ATTEMPTS });
  }

  private async post(url: string, { alertIds, acknowledged }: Task, signal: AbortSignal): Promise<void> {
    const found = await Promise.all(alertIds.slice(0, MOST_LISTED).map((id) => this.alerts.find(id)));
    const alerts = found.filter((alert) => alert !== null);
    const [first] = alerts;
    if (!first) return;
    const message = acknowledged ? await this.acknowledgement(first) : this.announcement(alerts, alertIds.length);
    await postJson(url, message, signal);
    this.log.info('slack told', { alert_ids: alertIds, acknowledged });
  }

  private announcement(alerts: readonly Alert[], count: number) {
    const [severity] = alerts.map((alert) => alert.severity).sort();
    const text = count === 1 ? headline(alerts[0] as Alert) : `[${severity}] ${count} alerts have fired`;
    const beyond = count - alerts.length;
    const blocks = alerts.flatMap((alert) => [
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
