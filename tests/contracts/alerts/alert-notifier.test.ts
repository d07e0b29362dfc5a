import { MAIL, MailQueue } from '../../../src/application/accounts/mail-queue.js';
import type { Account } from '../../../src/domain/accounts/account.js';
import type { Message } from '../../../src/domain/accounts/mailed-token.js';
import { Sealer } from '../../../src/infrastructure/crypto/secrets.js';
import { MailNotifier, MOST_AN_HOUR } from '../../../src/infrastructure/notifiers/alert-notifiers.js';
import { BaseUrlPageLinks } from '../../../src/interfaces/web/page-links.js';
import { MemoryMailer } from '../../fakes/accounts/memory-mailer.js';
import { MemoryInstanceRegistry } from '../../fakes/jobs/memory-instance-registry.js';
import type { MemoryStore } from '../../fakes/memory-store.js';
import { ManualClock } from '../../fakes/shared/manual-clock.js';
import { MemoryLogger } from '../../fakes/shared/memory-logger.js';
import { MemoryWorkQueue } from '../../fakes/shared/memory-work-queue.js';
import { memoryUnderTest } from '../../support/memory-repositories.js';
import { anAccount, anAlert, aTeam, at, aWebhook, ids } from '../../support/records.js';
import type { Repositories } from '../../support/repositories.js';
import { webhookRig } from '../../support/webhook-rig.js';
import { alertNotifierContract } from './alert-notifier.contract.js';

const idsIn = (text: string) => [...new Set(text.match(/alr_[0-9a-f-]{36}/g))];

function mailing({ teams, accounts, alerts, unitOfWork }: Repositories, clock = new ManualClock(at(0))) {
  const links = new BaseUrlPageLinks({ baseUrl: 'https://tenon.example' });
  const queue = new MemoryWorkQueue(unitOfWork as MemoryStore, new MemoryInstanceRegistry(), clock);
  const mailer = new MemoryMailer();
  const mailQueue = new MailQueue(queue, new Sealer('a secret of the tests', 'mails'), mailer, ids, new MemoryLogger());
  return {
    notifier: new MailNotifier(teams, accounts, alerts, mailQueue, links, ids, clock),
    clock,
    /** Returns all mails so far, oldest first. */
    async mails(): Promise<Message[]> {
      await queue.runDue(MAIL, mailQueue);
      return mailer.sent.map(({ message }) => message);
    },
  };
}

const receiving: Partial<Account> = { role: 'admin', emailVerifiedAt: at(0), alertEmails: true };

alertNotifierContract('e-mail', async () => {
  const repositories = await memoryUnderTest().open();
  const { teams, accounts, unitOfWork } = repositories;
  const { notifier, mails } = mailing(repositories);
  const team = aTeam({ operator: true });
  const account = anAccount(team, { ...receiving, alertEmails: false });
  await teams.add(team);
  await accounts.add(account);
  return {
    notifier,
    unitOfWork,
    switchOn: () => accounts.save({ ...account, alertEmails: true }),
    announcedIds: async () => (await mails()).flatMap(({ text }) => idsIn(text)),
  };
});

describe('webhooks', () => {
  let rig: Awaited<ReturnType<typeof webhookRig>> | undefined;
  afterEach(() => rig?.stop());

  alertNotifierContract('webhooks', async () => {
    rig = await webhookRig();
    const { notifier, webhooks, alerts, sender, store, settled } = rig;
    return {
      notifier,
      alerts,
      unitOfWork: store,
      switchOn: () => webhooks.add(aWebhook(), sender.newSecret()),
      async announcedIds() {
        await settled();
        return sender.posted.map(({ id }) => id);
      },
    };
  });
});

describe('AlertNotifier by e-mail', () => {
  const setUp = async (...team: Partial<Account>[]) => {
    const repositories = await memoryUnderTest().open();
    const [operators, others] = [aTeam({ operator: true }), aTeam()];
    await repositories.teams.add(operators);
    await repositories.teams.add(others);
    for (const over of team) await repositories.accounts.add(anAccount(operators, { ...receiving, ...over }));
    await repositories.accounts.add(anAccount(others, { ...receiving, email: 'stranger@example.com' }));
    return mailing(repositories);
  };

  it('sends mails to verified admins and developers of the operator team who asked for alerts', async () => {
    const { notifier, mails } = await setUp(
      { email: 'admin@example.com' },
      { email: 'developer@example.com', role: 'developer' },
      { email: 'member@example.com', role: 'member' },
      { email: 'unverified@example.com', emailVerifiedAt: null },
      { email: 'silent@example.com', alertEmails: false },
    );
    await notifier.announce([anAlert()]);
    expect((await mails()).map(({ to }) => to.address)).toEqual(['admin@example.com', 'developer@example.com']);
  });

  it('sends one mail that describes the alerts, with links below the base URL only', async () => {
    const { notifier, mails } = await setUp({ name: 'Ada <b>&', email: 'ada@example.com' });
    const alert = anAlert({ title: 'a <script>', message: 'Rule "x" & \' <img src=https://evil.example>' });
    await notifier.announce([alert, anAlert({ severity: 'P3' })]);
    const [mail, ...more] = await mails();
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ to: { name: 'Ada <b>&', address: 'ada@example.com' } });
    expect(mail?.subject).toBe('[P1] 2 alerts have fired');
    expect(mail?.text).toContain(`[P1] a <script>\n${alert.message}\nFired at ${alert.createdAt.toISOString()}.`);
    expect(mail?.text).toContain(`POST https://tenon.example/v1/alerts/${alert.id}/ack`);
    expect(mail?.html).toContain('<h2>[P1] a &lt;script&gt;</h2>');
    expect(mail?.html).not.toMatch(/<(script|img|b)\b/);
    expect(mail?.text).toContain('PATCH https://tenon.example/v1/auth/me');
    await notifier.announce([alert]);
    expect((await mails()).at(-1)?.subject).toBe('[P1] a <script>');
  });

  it('lists 20 alerts and counts the others', async () => {
    const { notifier, mails } = await setUp({});
    await notifier.announce(Array.from({ length: 45 }, () => anAlert()));
    const [{ text, subject } = { text: '', subject: '' }] = await mails();
    expect(subject).toBe('[P1] 45 alerts have fired');
    expect(idsIn(text)).toHaveLength(20);
    expect(text).toContain('And 25 more: GET https://tenon.example/v1/alerts\n');
  });

  it('limits the mails of an hour, and the last mail says so', async () => {
    const { notifier, mails, clock } = await setUp({});
    for (let nth = 0; nth < MOST_AN_HOUR + 5; nth++) await notifier.announce([anAlert()]);
    const sent = (await mails()).map(({ text }) => text.includes('the last such message'));
    expect(sent).toEqual([...Array(MOST_AN_HOUR - 1).fill(false), true]);
    clock.advance(60 * 60 * 1000 + 1);
    await notifier.announce([anAlert()]);
    expect(await mails()).toHaveLength(MOST_AN_HOUR + 1);
  });
});
