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

/** Makes notifiers with all ports in memory, and a real HTTP receiver of their posts. */
async function openRig() {
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
    /** Waits until no task is due. Returns the number of waiting tasks. */
    async settled(): Promise<number> {
      await eventually(() => tasks.all().every(({ runAt }) => runAt > clock.now().getTime()));
      return tasks.all().length;
    },
    /** Returns what was posted so far, parsed. */
    // biome-ignore lint/suspicious/noExplicitAny: the posts of the notifiers have different shapes
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

let rig: Awaited<ReturnType<typeof openRig>>;
let notifier: AlertNotifier;
beforeEach(async () => {
  rig = await openRig();
});
afterEach(() => rig.stop());

type ReceivedIds = Required<Pick<NotifierUnderTest, 'announcedIds' | 'acknowledgedIds'>>;

const underTest = (make: (url: string | null) => AlertNotifier, received: ReceivedIds): NotifierUnderTest => {
  notifier = make(null);
  return {
    get notifier() {
      return notifier;
    },
    alerts: rig.alerts,
    unitOfWork: rig.unitOfWork,
    switchOn: async () => {
      notifier = make(rig.receiver.url);
    },
    ...received,
  };
};

const fire = async (...alerts: Alert[]): Promise<void> => {
  await rig.alerts.add(alerts);
  await notifier.announce(alerts);
};

const acknowledge = async (alert: Alert, by = 'master', note: string | null = null): Promise<void> => {
  const acknowledgement = { at: rig.clock.now(), by, note };
  await rig.alerts.acknowledge(alert.id, acknowledgement);
  await notifier.acknowledged((await rig.alerts.find(alert.id)) as Alert);
};

describe('Alertmanager', () => {
  const entries = async (isFiring: boolean): Promise<string[]> =>
    (await rig.posted())
      .flat()
      .filter(({ endsAt }) => new Date(endsAt) > rig.clock.now() === isFiring)
      .map(({ labels }) => labels.alert_id);

  const received = { announcedIds: () => entries(true), acknowledgedIds: () => entries(false) };
  alertNotifierContract('Alertmanager', async () => underTest(rig.alertmanager, received));

  it('gets alerts with labels, texts and a link, and their end', async () => {
    notifier = rig.alertmanager(`http://ada:p%40ss@127.0.0.1:${rig.receiver.port}/am`);
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
    expect(await rig.posted()).toEqual([[entry]]);
    expect(rig.receiver.posted[0]).toMatchObject({
      path: '/am/api/v2/alerts',
      headers: { authorization: `Basic ${Buffer.from('ada:p@ss').toString('base64')}` },
    });
    rig.clock.advance(5_000);
    await acknowledge(alert);
    expect((await rig.posted()).at(-1)).toEqual([{ ...entry, endsAt: at(105).toISOString() }]);
  });

  it('gets the firing alerts again every minute, from only one of several instances', async () => {
    const alertmanager = rig.alertmanager(rig.receiver.url);
    notifier = alertmanager;
    const [first, second, ended] = [anAlert(), anAlert(), anAlert({ createdAt: at(200) })];
    await alertmanager.repeat();
    await fire(first, second, ended);
    await acknowledge(ended); // on an instance with a slow clock
    const before = await rig.posted();
    expect(before.at(-1)).toMatchObject([{ startsAt: at(200).toISOString(), endsAt: at(200).toISOString() }]);
    for (let nth = 0; nth < 3; nth++) await alertmanager.repeat();
    const [repeated, ...more] = (await rig.posted()).slice(before.length);
    expect(repeated).toMatchObject([second, first].map(({ id }) => ({ labels: { alert_id: id } })));
    expect(more).toEqual([]);
  });
});

describe('Slack', () => {
  const idsOf = async (acknowledged: boolean): Promise<string[]> =>
    (await rig.posted())
      .filter(({ text }) => text.startsWith('Acknowledged') === acknowledged)
      .flatMap(({ blocks }) => [...new Set<string>(JSON.stringify(blocks).match(/alr_[0-9a-f-]{36}/g))]);

  const received = { announcedIds: () => idsOf(false), acknowledgedIds: () => idsOf(true) };
  alertNotifierContract('Slack', async () => underTest(rig.slack, received));

  const texts = ({ blocks }: { blocks: { text?: { text: string }; elements?: { text: string }[] }[] }): string[] =>
    blocks.map(({ text, elements }) => (text ?? elements?.[0])?.text ?? '');

  it('gets alerts and acknowledgements; links and mentions in their texts are escaped', async () => {
    notifier = rig.slack(rig.receiver.url);
    const alert = anAlert({ title: '<!channel> fails', message: 'Rule "<https://evil.example|x>" & more' });
    await fire(alert);
    const team = aTeam();
    const ada = anAccount(team, { name: 'Ada <b>' });
    await rig.teams.add(team);
    await rig.accounts.add(ada);
    await acknowledge(alert, ada.id, 'The <disk>\n was full.');
    const [fired, acked] = await rig.posted();
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
    notifier = rig.slack(rig.receiver.url);
    await fire(
      ...Array.from({ length: 45 }, (_, nth) =>
        anAlert({ title: '<'.repeat(999), message: '&'.repeat(999), severity: nth ? 'P3' : 'P2' }),
      ),
    );
    const [message, ...more] = await rig.posted();
    expect(more).toEqual([]);
    expect(message.text).toBe('[P2] 45 alerts have fired');
    expect(texts(message)).toHaveLength(21);
    for (const text of texts(message)) expect(text.length).toBeLessThan(3_000);
    expect(texts(message).at(-1)).toBe('And 35 more: https://tenon.example/v1/alerts');
  });
});

describe.each(['alertmanager', 'slack'] as const)('a failing receiver of %s', (kind) => {
  it('gets everything when it works again, and its address stays secret', async () => {
    notifier = rig[kind](rig.receiver.url.replace('in?key', 'private/in?key'));
    const alert = anAlert();
    const elsewhere = await WebhookReceiver.start();
    const failures: WebhookReceiver['answer'][] = [
      (response) => response.writeHead(404).end('Cannot POST /private/in?key=private'),
      answering(302, { Location: elsewhere.url }),
      (response) => response.destroy(),
    ];
    for (const failure of failures) {
      rig.receiver.answer = failure;
      if (failure === failures[0]) await fire(alert);
      else rig.clock.advance(HOUR_MS / 60);
      await eventually(async () => (await rig.settled()) === 1);
      expect(JSON.stringify(rig.tasks.all())).not.toContain('private');
    }
    await acknowledge(alert);
    await rig.settled();
    rig.receiver.answer = answering(200);
    const before = rig.receiver.posted.length;
    rig.clock.advance(HOUR_MS / 60);
    await eventually(async () => (await rig.settled()) === 0);
    expect(rig.receiver.posted).toHaveLength(before + 2);
    for (const { body } of rig.receiver.posted.slice(before)) expect(body).toContain(alert.id);
    expect(elsewhere.accepted).toBe(0);
    expect(JSON.stringify(redacted(rig.log.lines))).not.toContain('private');
    await elsewhere.stop();
  });
});
