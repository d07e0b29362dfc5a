import type { MailQueue } from '../../../src/application/accounts/mail-queue.js';
import type { AlertEvent, AlertNotifier } from '../../../src/application/alerts/ports.js';
import type { Account } from '../../../src/domain/accounts/account.js';
import type { Message } from '../../../src/domain/accounts/mailed-token.js';
import type { Alert } from '../../../src/domain/alerts/alert.js';
import { AlertmanagerNotifier } from '../../../src/infrastructure/notifiers/alertmanager-notifier.js';
import { MailNotifier, MOST_AN_HOUR } from '../../../src/infrastructure/notifiers/mail-notifier.js';
import { MOST_AN_HOUR as MOST_IN_SLACK, SlackNotifier } from '../../../src/infrastructure/notifiers/slack-notifier.js';
import { WebhookNotifier } from '../../../src/infrastructure/notifiers/webhook-notifier.js';
import { AddressGuard, HttpWebhookSender } from '../../../src/infrastructure/webhooks/http-webhook-sender.js';
import { alertFired } from '../../../src/interfaces/http/alerts/webhooks.controller.js';
import { BaseUrlPageLinks } from '../../../src/interfaces/web/page-links.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { anAccount, anAlert, aTeam, at, aWebhook } from '../../support/records.js';
import { WebhookReceiver } from '../../support/webhook-receiver.js';
import { alertNotifierContract, type NotifierUnderTest, onlyGone } from './alert-notifier.contract.js';

const HOUR_MS = 60 * 60_000;

const postgres = postgresUnderTest();
const links = new BaseUrlPageLinks({ baseUrl: 'https://tenon.example' });
const idsIn = (text: string) => [...new Set(text.match(/alr_[0-9a-f-]{36}/g))];

const receiving: Partial<Account> = { role: 'admin', emailVerifiedAt: at(0), alertEmails: true };

/** Creates a mail notifier for the accounts of the operator team. */
async function mailing(...team: Partial<Account>[]) {
  const { teams, accounts, alerts, unitOfWork } = await postgres.open();
  const [operators, others] = [aTeam({ operator: true }), aTeam()];
  for (const one of [operators, others]) await teams.add(one);
  for (const over of team) await accounts.add(anAccount(operators, { ...receiving, ...over }));
  await accounts.add(anAccount(others, { ...receiving, email: 'stranger@example.com' }));
  const mails: Message[] = [];
  const queue = { add: async (message) => void mails.push(message) } as Partial<MailQueue> as MailQueue;
  const clock = new ManualClock(at(0));
  const notifier = new MailNotifier(teams, accounts, alerts, queue, unitOfWork, links, clock);
  return { notifier, mails, clock, accounts };
}

const announce = async (notifier: AlertNotifier, alerts: Alert[], event: AlertEvent = 'fired') => {
  for (const receiver of await notifier.receivers())
    await notifier.deliver({ event, receiver, alerts }, new AbortController().signal);
};

const mail = async () => {
  const { notifier, mails } = await mailing({});
  return { notifier, idsIn, messages: () => mails.map(({ text }) => text) };
};
alertNotifierContract('e-mail', mail, { posts: false });

const webhooks = async ({ url }: WebhookReceiver): Promise<NotifierUnderTest> => {
  const { webhooks } = await postgres.open();
  const sender = new HttpWebhookSender(new AddressGuard(['127.0.0.1']));
  await webhooks.add(aWebhook({ url }), sender.newSecret());
  return { notifier: new WebhookNotifier(alertFired, webhooks, sender, new ManualClock(at(0))), idsIn };
};
alertNotifierContract('webhooks', webhooks, onlyGone);

alertNotifierContract('Alertmanager', ({ url }) => ({
  notifier: new AlertmanagerNotifier([url], links, new ManualClock(at(0))),
  idsIn,
}));

/** Creates a Slack notifier, its clock, and the repositories. */
async function slack(url: string) {
  const repositories = await postgres.open();
  const clock = new ManualClock(at(0));
  const notifier = new SlackNotifier(url, repositories.accounts, repositories.alerts, links, clock);
  return { ...repositories, clock, notifier };
}
alertNotifierContract('Slack', async ({ url }) => ({ ...(await slack(url)), idsIn }));

describe('AlertNotifier by e-mail', () => {
  it('sends mails to verified admins and developers of the operator team who asked for alerts', async () => {
    const { notifier, mails } = await mailing(
      { email: 'admin@example.com' },
      { email: 'developer@example.com', role: 'developer' },
      { email: 'member@example.com', role: 'member' },
      { email: 'unverified@example.com', emailVerifiedAt: null },
      { email: 'silent@example.com', alertEmails: false },
    );
    await announce(notifier, [anAlert()]);
    expect(mails.map(({ to }) => to.address).sort()).toEqual(['admin@example.com', 'developer@example.com']);
  });

  it('sends one mail that describes the alerts, with links below the base URL only', async () => {
    const { notifier, mails } = await mailing({ name: 'Ada <b>&', email: 'ada@example.com' });
    const alert = anAlert({ title: 'a <script>', message: 'Rule "x" & \' <img src=https://evil.example>' });
    await announce(notifier, [alert, anAlert({ severity: 'P3' })]);
    const [mail, ...more] = mails;
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ to: { name: 'Ada <b>&', address: 'ada@example.com' } });
    expect(mail?.subject).toBe('[P1] 2 alerts have fired');
    expect(mail?.text).toContain(`[P1] a <script>\n${alert.message}\nFired at ${alert.createdAt.toISOString()}.`);
    expect(mail?.text).toContain(`POST https://tenon.example/v1/alerts/${alert.id}/ack`);
    expect(mail?.html).toContain('<h2>[P1] a &lt;script&gt;</h2>');
    expect(mail?.html).not.toMatch(/<(script|img|b)\b/);
    expect(mail?.text).toContain('PATCH https://tenon.example/v1/auth/me');
    await announce(notifier, [anAlert({ title: 'a <script>' })]);
    expect(mails.at(-1)?.subject).toBe('[P1] a <script>');
  });

  it('adds one mail, even if a delivery is repeated because its end was not stored', async () => {
    const { notifier, mails } = await mailing({});
    const alerts = [anAlert()];
    for (let nth = 0; nth < 3; nth++) await announce(notifier, alerts);
    expect(mails).toHaveLength(1);
  });

  it('lists 20 alerts and counts the others', async () => {
    const { notifier, mails } = await mailing({});
    await announce(
      notifier,
      Array.from({ length: 45 }, () => anAlert()),
    );
    const [{ text, subject } = { text: '', subject: '' }] = mails;
    expect(subject).toBe('[P1] 45 alerts have fired');
    expect(idsIn(text)).toHaveLength(20);
    expect(text).toContain('And 25 more: GET https://tenon.example/v1/alerts\n');
  });

  it('limits the mails of an hour, and the last mail says so', async () => {
    const { notifier, mails, clock } = await mailing({});
    for (let nth = 0; nth < MOST_AN_HOUR + 5; nth++) await announce(notifier, [anAlert()]);
    const sent = mails.map(({ text }) => text.includes('the last such message'));
    expect(sent).toEqual([...Array(MOST_AN_HOUR - 1).fill(false), true]);
    clock.advance(HOUR_MS + 1);
    await announce(notifier, [anAlert()]);
    expect(mails).toHaveLength(MOST_AN_HOUR + 1);
  });
});

describe('posts', () => {
  let receiver: WebhookReceiver;
  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
  });
  afterEach(() => receiver.stop());
  const posted = () => receiver.posted.map(({ body }) => JSON.parse(body));

  it('tell Alertmanager the labels, texts, link and end of an alert', async () => {
    const clock = new ManualClock(at(100));
    const url = `http://ada:p%40ss@127.0.0.1:${receiver.port}/am`;
    const notifier = new AlertmanagerNotifier([url], links, clock);
    const alert = anAlert({ ruleName: '"\u{1F986}" <b>', createdAt: at(90) });
    const entry = {
      labels: {
        alertname: alert.ruleName,
        service: 'tenon',
        severity: 'P1',
        rule_type: 'consecutive_failures',
        rule_id: alert.ruleId,
        alert_id: alert.id,
        job_id: alert.jobId,
      },
      annotations: { summary: alert.title, description: alert.message },
      startsAt: at(90).toISOString(),
      endsAt: new Date(at(100).getTime() + HOUR_MS).toISOString(),
      generatorURL: `https://tenon.example/v1/alerts/${alert.id}`,
    };
    await announce(notifier, [alert]);
    await announce(notifier, [{ ...alert, ackedAt: at(105) }], 'acknowledged');
    await announce(notifier, [{ ...alert, ackedAt: at(80) }], 'acknowledged'); // by an instance with a slow clock
    const ends = [entry.endsAt, at(105).toISOString(), entry.startsAt];
    expect(posted()).toEqual(ends.map((endsAt) => [{ ...entry, endsAt }]));
    expect(receiver.posted[0]).toMatchObject({
      path: '/am/api/v2/alerts',
      headers: { authorization: `Basic ${Buffer.from('ada:p@ss').toString('base64')}` },
    });
  });

  it('go to every instance of Alertmanager, each as a delivery of its own', async () => {
    const second = await WebhookReceiver.start();
    const notifier = new AlertmanagerNotifier([receiver.url, second.url], links, new ManualClock(at(0)));
    expect(await notifier.receivers()).toEqual([`127.0.0.1:${receiver.port}`, `127.0.0.1:${second.port}`]);
    const alert = anAlert();
    await announce(notifier, [alert]);
    for (const { posted } of [receiver, second]) expect(posted.map(({ body }) => idsIn(body))).toEqual([[alert.id]]);
    await second.stop();
  });

  it('say how long the receiver wants to wait before another attempt', async () => {
    const notifier = new AlertmanagerNotifier([receiver.url], links, new ManualClock(at(0)));
    receiver.answer = (response) => response.writeHead(429, { 'Retry-After': '7' }).end();
    const announcement = { event: 'fired', receiver: new URL(receiver.url).host, alerts: [anAlert()] } as const;
    expect(await notifier.deliver(announcement, new AbortController().signal)).toMatchObject({ pauseMs: 7_000 });
  });

  const texts = ({ blocks }: { blocks: { text?: { text: string }; elements?: { text: string }[] }[] }): string[] =>
    blocks.map(({ text, elements }) => (text ?? elements?.[0])?.text ?? '');

  it('tell Slack alerts and acknowledgements, with links and mentions in their texts escaped', async () => {
    const { accounts, teams, notifier } = await slack(receiver.url);
    const team = aTeam();
    const ada = anAccount(team, { name: 'Ada <b>' });
    await teams.add(team);
    await accounts.add(ada);
    const alert = anAlert({ title: '<!channel> fails', message: 'Rule "<https://evil.example|x>" & more' });
    await announce(notifier, [alert]);
    const note = 'The <disk>\n was full.';
    await announce(notifier, [{ ...alert, ackedAt: at(9), ackedBy: ada.id, note }], 'acknowledged');
    const [fired, acked] = posted();
    const link = `<https://tenon.example/v1/alerts/${alert.id}|${alert.id}>`;
    expect(fired.text).toBe('[P1] &lt;!channel&gt; fails');
    expect(texts(fired)).toEqual([
      '*[P1] &lt;!channel&gt; fails*\nRule "&lt;https://evil.example|x&gt;" &amp; more',
      expect.stringMatching(/^Fired <!date\^\d+\^\{date_short_pretty\} \{time_secs\}\|[^<>|]+> · </),
    ]);
    expect(texts(fired)[1]).toContain(link);
    expect(acked.text).toBe('Acknowledged by Ada &lt;b&gt;: [P1] &lt;!channel&gt; fails');
    expect(texts(acked)[0]).toBe(`${acked.text}\n>The &lt;disk&gt; was full.`);
    expect(JSON.stringify([fired, acked])).not.toContain(ada.email);
  });

  it('tell Slack of many alerts in one message of bounded length', async () => {
    const { notifier } = await slack(receiver.url);
    const long = { title: '<'.repeat(999), message: '&'.repeat(999) };
    const alerts = Array.from({ length: 45 }, (_, nth) => anAlert({ ...long, severity: nth ? 'P3' : 'P2' }));
    await announce(notifier, alerts);
    const [message, ...more] = posted();
    expect(more).toEqual([]);
    expect(message.text).toBe('[P2] 45 alerts have fired');
    expect(texts(message)).toHaveLength(21);
    for (const text of texts(message)) expect(text.length).toBeLessThan(3_000);
    expect(texts(message).at(-1)).toBe('And 35 more: https://tenon.example/v1/alerts');
  });

  it('reach Slack at most 60 times within an hour; the next one tells how many were left out', async () => {
    const { notifier, clock } = await slack(receiver.url);
    const deliver = (alert: Alert) =>
      notifier.deliver({ event: 'fired', receiver: 'slack', alerts: [alert] }, new AbortController().signal);
    for (let nth = 0; nth < MOST_IN_SLACK; nth++) await deliver(anAlert());
    const waiting = anAlert();
    const beyond = [];
    for (const alert of [waiting, anAlert(), anAlert(), waiting]) beyond.push((await deliver(alert)).result);
    expect(beyond).toEqual(['retry', 'left_out', 'left_out', 'retry']);
    expect(receiver.posted).toHaveLength(MOST_IN_SLACK);
    clock.advance(HOUR_MS + 1);
    for (const alert of [waiting, anAlert()]) expect(await deliver(alert)).toEqual({ result: 'delivered' });
    const [next, after] = posted().slice(MOST_IN_SLACK);
    expect(texts(next).at(-1)).toBe('2 messages before were left out: https://tenon.example/v1/alerts');
    expect(JSON.stringify(after)).not.toContain('left out');
  });

  it('tell Slack of very many messages that were left out, and forget them in small transactions', async () => {
    const { notifier, alerts } = await slack(receiver.url);
    const leftOut = Array.from({ length: 1_001 }, (_, nth) => ({ id: `left out ${nth}`, receiver: 'slack, left out' }));
    await Promise.all(leftOut.map((one) => alerts.addMessage({ ...one, sentAt: at(0) })));
    const removals = jest.spyOn(alerts, 'removeMessages');
    await announce(notifier, [anAlert()]);
    expect(texts(posted()[0]).at(-1)).toContain('1001 messages before were left out');
    expect(await alerts.countMessages('slack, left out', at(0))).toBe(0);
    const removed = await Promise.all(removals.mock.results.map(({ value }) => value));
    expect(Math.max(...removed)).toBe(1_000);
  });
});
