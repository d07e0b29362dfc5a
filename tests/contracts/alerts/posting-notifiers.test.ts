import type { AlertNotifier } from '../../../src/application/alerts/ports.js';
import type { Alert } from '../../../src/domain/alerts/alert.js';
import { redacted } from '../../../src/infrastructure/logging/winston-logger.js';
import { AlertmanagerNotifier } from '../../../src/infrastructure/notifiers/alertmanager-notifier.js';
import { SlackNotifier } from '../../../src/infrastructure/notifiers/slack-notifier.js';
import { BaseUrlPageLinks } from '../../../src/interfaces/web/page-links.js';
import { MemoryInstanceRegistry } from '../../fakes/jobs/memory-instance-registry.js';
import { MemoryStore } from '../../fakes/memory-store.js';
import { MemoryTable } from '../../fakes/memory-table.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { MemoryWorkQueue } from '../../fakes/shared/memory-work-queue.js';
import { eventually } from '../../support/eventually.js';
import { memoryRepositories } from '../../support/memory-repositories.js';
import { RecordingLog } from '../../support/recording-log.js';
import { anAccount, anAlert, aTeam, at } from '../../support/records.js';
import { answering, WebhookReceiver } from '../../support/webhook-receiver.js';
import { alertNotifierContract, type NotifierUnderTest } from './alert-notifier.contract.js';

const HOUR_MS = 60 * 60_000;

const links = new BaseUrlPageLinks({ baseUrl: 'https://tenon.example' });

/** A notifier with everything in memory, but for a real receiver of what it posts. */
async function rig() {
  const store = new MemoryStore();
  const { alerts, accounts, teams } = memoryRepositories(store);
  const [clock, log, receiver] = [new ManualClock(at(100)), new RecordingLog(), await WebhookReceiver.start()];
  const queue = new MemoryWorkQueue(store, new MemoryInstanceRegistry(), clock);
  await queue.start();
  const tasks = new MemoryTable<{ readonly runAt: number }>(store, 'tasks');
  return {
    alerts,
    accounts,
    teams,
    clock,
    log,
    receiver,
    tasks,
    unitOfWork: store,
    alertmanager: (url: string | null) => new AlertmanagerNotifier(url, queue, alerts, links, clock, log),
    slack: (url: string | null) => new SlackNotifier(url, queue, alerts, accounts, links, log),
    /** Resolves to the number of waiting tasks when none of them is due. */
    async settled(): Promise<number> {
      await eventually(() => tasks.all().every(({ runAt }) => runAt > clock.now().getTime()));
      return tasks.all().length;
    },
    /** Returns what was posted so far, parsed. */
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent
    async posted(): Promise<any[]> {
      await this.settled();
      return receiver.posted.map(({ body }) => JSON.parse(body));
    },
    async stop(): Promise<void> {
      await queue.stop(0);
      await receiver.stop();
    },
  };
}

let way: Awaited<ReturnType<typeof rig>>;
let notifier: AlertNotifier;
beforeEach(async () => {
  way = await rig();
});
afterEach(() => way.stop());

type Told = Required<Pick<NotifierUnderTest, 'told' | 'toldOfEnds'>>;

const underTest = (make: (url: string | null) => AlertNotifier, told: Told): NotifierUnderTest => {
  notifier = make(null);
  return {
    get notifier() {
      return notifier;
    },
    alerts: way.alerts,
    unitOfWork: way.unitOfWork,
    switchOn: async () => {
      notifier = make(way.receiver.url);
    },
    ...told,
  };
};

const fire = async (...alerts: Alert[]): Promise<void> => {
  await way.alerts.add(alerts);
  await notifier.announce(alerts);
};

const acknowledge = async (alert: Alert, by = 'master', note: string | null = null): Promise<void> => {
  const acknowledgement = { at: way.clock.now(), by, note };
  await way.alerts.acknowledge(alert.id, acknowledgement);
  await notifier.acknowledged((await way.alerts.find(alert.id)) as Alert);
};

describe('Alertmanager', () => {
  const entries = async (isFiring: boolean): Promise<string[]> =>
    (await way.posted())
      .flat()
      .filter(({ endsAt }) => new Date(endsAt) > way.clock.now() === isFiring)
      .map(({ labels }) => labels.alert_id);

  const told = { told: () => entries(true), toldOfEnds: () => entries(false) };
  alertNotifierContract('Alertmanager', async () => underTest(way.alertmanager, told));

  it('gets alerts with labels, texts and a link, and their end', async () => {
    notifier = way.alertmanager(`http://ada:p%40ss@127.0.0.1:${way.receiver.port}/am`);
    const alert = anAlert({ ruleName: '"\u{1F986}" <b>', createdAt: at(90) });
    await fire(alert);
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
    expect(await way.posted()).toEqual([[entry]]);
    expect(way.receiver.posted[0]).toMatchObject({
      path: '/am/api/v2/alerts',
      headers: { authorization: `Basic ${Buffer.from('ada:p@ss').toString('base64')}` },
    });
    way.clock.advance(5_000);
    await acknowledge(alert);
    expect((await way.posted()).at(-1)).toEqual([{ ...entry, endsAt: at(105).toISOString() }]);
  });

  it('is told every minute of what fires then, by one of several instances', async () => {
    const alertmanager = way.alertmanager(way.receiver.url);
    notifier = alertmanager;
    const [first, second, ended] = [anAlert(), anAlert(), anAlert({ createdAt: at(200) })];
    await alertmanager.repeat();
    await fire(first, second, ended);
    await acknowledge(ended); // on an instance whose clock is slow
    const before = await way.posted();
    expect(before.at(-1)).toMatchObject([{ startsAt: at(200).toISOString(), endsAt: at(200).toISOString() }]);
    for (let nth = 0; nth < 3; nth++) await alertmanager.repeat();
    const [repeated, ...more] = (await way.posted()).slice(before.length);
    expect(repeated).toMatchObject([second, first].map(({ id }) => ({ labels: { alert_id: id } })));
    expect(more).toEqual([]);
  });
});

describe('Slack', () => {
  const idsOf = async (acknowledged: boolean): Promise<string[]> =>
    (await way.posted())
      .filter(({ text }) => text.startsWith('Acknowledged') === acknowledged)
      .flatMap(({ blocks }) => [...new Set<string>(JSON.stringify(blocks).match(/alr_[0-9a-f-]{36}/g))]);

  const told = { told: () => idsOf(false), toldOfEnds: () => idsOf(true) };
  alertNotifierContract('Slack', async () => underTest(way.slack, told));

  const texts = ({ blocks }: { blocks: { text?: { text: string }; elements?: { text: string }[] }[] }): string[] =>
    blocks.map(({ text, elements }) => (text ?? elements?.[0])?.text ?? '');

  it('gets what has fired and who has acknowledged it, without links or mentions that a text contains', async () => {
    notifier = way.slack(way.receiver.url);
    const alert = anAlert({ title: '<!channel> fails', message: 'Rule "<https://evil.example|x>" & more' });
    await fire(alert);
    const team = aTeam();
    const ada = anAccount(team, { name: 'Ada <b>' });
    await way.teams.add(team);
    await way.accounts.add(ada);
    await acknowledge(alert, ada.id, 'The <disk>\n was full.');
    const [fired, acked] = await way.posted();
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

  it('gets one message of bounded length for many alerts', async () => {
    notifier = way.slack(way.receiver.url);
    await fire(
      ...Array.from({ length: 45 }, (_, nth) =>
        anAlert({ title: '<'.repeat(999), message: '&'.repeat(999), severity: nth ? 'P3' : 'P2' }),
      ),
    );
    const [message, ...more] = await way.posted();
    expect(more).toEqual([]);
    expect(message.text).toBe('[P2] 45 alerts have fired');
    expect(texts(message)).toHaveLength(21);
    for (const text of texts(message)) expect(text.length).toBeLessThan(3_000);
    expect(texts(message).at(-1)).toBe('And 35 more: https://tenon.example/v1/alerts');
  });
});

describe.each(['alertmanager', 'slack'] as const)('a failing receiver of %s', (kind) => {
  it('is told once it works again, loses nothing, and its address stays secret', async () => {
    notifier = way[kind](way.receiver.url.replace('in?key', 'private/in?key'));
    const alert = anAlert();
    const elsewhere = await WebhookReceiver.start();
    const failures: WebhookReceiver['answer'][] = [
      (response) => response.writeHead(404).end('Cannot POST /private/in?key=private'),
      answering(302, { Location: elsewhere.url }),
      (response) => response.destroy(),
    ];
    for (const failure of failures) {
      way.receiver.answer = failure;
      if (failure === failures[0]) await fire(alert);
      else way.clock.advance(HOUR_MS / 60);
      await eventually(async () => (await way.settled()) === 1);
      expect(JSON.stringify(way.tasks.all())).not.toContain('private');
    }
    await acknowledge(alert);
    await way.settled();
    way.receiver.answer = answering(200);
    const before = way.receiver.posted.length;
    way.clock.advance(HOUR_MS / 60);
    await eventually(async () => (await way.settled()) === 0);
    expect(way.receiver.posted).toHaveLength(before + 2);
    for (const { body } of way.receiver.posted.slice(before)) expect(body).toContain(alert.id);
    expect(elsewhere.accepted).toBe(0);
    expect(JSON.stringify(redacted(way.log.lines))).not.toContain('private');
    await elsewhere.stop();
  });
});
