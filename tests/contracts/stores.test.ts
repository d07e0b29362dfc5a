import { setTimeout as pause } from 'node:timers/promises';
import type { Account } from '../../src/domain/accounts/account.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';
import { Sealer } from '../../src/infrastructure/crypto/secrets.js';
import { TypeOrmWebhookRepository } from '../../src/infrastructure/typeorm/alerts/webhook.repository.js';
import { TypeOrmUnitOfWork } from '../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { MemoryStore } from '../fakes/memory-store.js';
import { gate } from '../support/barrier.js';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import { memoryRepositories, memoryUnderTest } from '../support/memory-repositories.js';
import { postgresRepositories, postgresUnderTest } from '../support/postgres-repositories.js';
import { aMessage, anAccount, aTeam, at, aWebhook, ids } from '../support/records.js';
import { credentialsContract } from './accounts/credentials.contract.js';
import { outboxContract } from './accounts/outbox.contract.js';
import { alertsContract } from './alerts/alerts.contract.js';
import { auditTrailContract } from './audit/audit-trail.contract.js';
import { evaluationsContract } from './jobs/evaluations.contract.js';
import { locksContract } from './shared/locks.contract.js';
import { addedUnderCap, countedUp, unitOfWorkContract } from './shared/unit-of-work.contract.js';

/** Runs the suites of the repositories in memory and in one PostgreSQL database. */
const postgres = postgresUnderTest();

for (const [name, store] of [
  ['memory', memoryUnderTest()],
  ['PostgreSQL', postgres],
] as const) {
  credentialsContract(name, store);
  alertsContract(name, store);
  auditTrailContract(name, store);
  evaluationsContract(name, store);
  outboxContract(name, store);
  locksContract(name, store);
  unitOfWorkContract(name, store);
}

describe('Webhooks kept by PostgreSQL', () => {
  it('show neither URL nor secret to whoever reads the database', async () => {
    const { webhooks } = await postgres.open();
    const webhook = aWebhook({ url: 'https://hooks.example.com/in?key=private' });
    await webhooks.add(webhook, 'whsec_c2VjcmV0');
    const [row] = await query<{ webhook: string }>(postgres.url, 'SELECT webhooks::text AS webhook FROM webhooks');
    const fields = row?.webhook.split(/[(),"]/) ?? [];
    const readable = [
      row?.webhook,
      ...fields.map((field) => Buffer.from(field, 'base64url').toString('latin1')),
    ].join();
    expect(readable).toContain(webhook.id);
    for (const secret of ['hooks.example.com', 'private', 'c2VjcmV0', 'secret']) expect(readable).not.toContain(secret);
  });

  it('that were sealed with another secret can be seen and removed, and are no address', async () => {
    const { webhooks } = await postgres.open();
    const webhook = aWebhook();
    await webhooks.add(webhook, 'whsec_1');
    const other = new TypeOrmWebhookRepository(
      new TypeOrmUnitOfWork(postgres.source),
      new Sealer('another secret', 'webhooks'),
    );
    expect(await other.all()).toEqual([{ ...webhook, url: '' }]);
    await expect(other.open(webhook.id)).rejects.toThrow('SERVICE_SECRET');
    expect(await other.remove(webhook.id)).toBe(true);
  });
});

describe("PostgreSQL's table of audit entries", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
    await query(
      database.url,
      `INSERT INTO audit_entries (id, created_at, actor_kind, action, object_id, details)
       VALUES ('aud_1', now(), 'command_line', 'database.migrated', 'tenon', '{}')`,
    );
  });
  afterAll(() => database.drop());

  it.each([
    "UPDATE audit_entries SET action = 'project.deleted'",
    "UPDATE audit_entries SET action = 'project.deleted' WHERE false",
    'DELETE FROM audit_entries',
    'TRUNCATE audit_entries',
    "INSERT INTO audit_entries SELECT * FROM audit_entries ON CONFLICT (id) DO UPDATE SET object_name = 'other'",
  ])('refuses: %s', async (statement) => {
    await expect(query(database.url, statement)).rejects.toThrow('audit_entries is append-only');
    const kept = await query(database.url, 'SELECT id, action, object_name FROM audit_entries');
    expect(kept).toEqual([{ id: 'aud_1', action: 'database.migrated', object_name: null }]);
  });
});

describe('Outbox kept by PostgreSQL', () => {
  const token = 'tnv_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM';
  const link = `https://tenon.example/verify-email?token=${token}`;
  const message = aMessage({
    to: { name: 'Ada Lovelace', address: 'ada@example.com' },
    subject: 'A private matter',
    text: `Open ${link}`,
    html: `<a href="${link}">Open</a>`,
  });
  const dump = async () => {
    const rows = await query<{ outbox: string }>(postgres.url, 'SELECT outbox::text FROM outbox');
    return rows.map(({ outbox }) => outbox).join('\n');
  };

  it('shows neither address nor token of a waiting mail to whoever reads the database', async () => {
    const { outbox } = await postgres.open();
    const id = ids.next('msg');
    await outbox.add({ id, message, dueAt: at(0) });
    for (let state = 0; state < 2; state++) {
      const text = await dump();
      expect(text).toContain(id);
      const decoded = text.split(/[(),"]/).map((field) => Buffer.from(field, 'base64url').toString('latin1'));
      for (const secret of [token, 'ada@example.com', 'Lovelace', 'private matter', 'verify-email']) {
        expect(text).not.toContain(secret);
        expect(decoded.join('\n')).not.toContain(secret);
      }
      await outbox.take(at(0), at(60));
    }
  });

  it('keeps nothing of the content of a delivered mail', async () => {
    const { outbox } = await postgres.open();
    const [id, waiting] = [ids.next('msg'), ids.next('msg')];
    await outbox.add({ id, message, dueAt: at(0) });
    await outbox.add({ id: waiting, message, dueAt: at(1) });
    await outbox.take(at(0), at(60));
    await outbox.delivered(id, at(5));
    const rows = await query(
      postgres.url,
      'SELECT id, sealed IS NULL AS wiped, delivered_at FROM outbox ORDER BY due_at DESC',
    );
    expect(rows).toEqual([
      { id, wiped: true, delivered_at: at(5) },
      { id: waiting, wiped: false, delivered_at: null },
    ]);
  });

  it('does not wait for a mail that somebody else has in hand', async () => {
    const { outbox, unitOfWork } = await postgres.open();
    const [first, second] = [ids.next('msg'), ids.next('msg')];
    await outbox.add({ id: first, message, dueAt: at(0) });
    await outbox.add({ id: second, message, dueAt: at(1) });
    const elsewhere = (await postgres.elsewhere()).outbox;
    await unitOfWork.run(async () => {
      expect(await outbox.take(at(10), at(60))).toMatchObject({ id: first });
      expect(await elsewhere.take(at(10), at(60))).toMatchObject({ id: second });
      expect(await elsewhere.take(at(10), at(60))).toBeNull();
    });
  });
});

describe('Locks of PostgreSQL', () => {
  it('takes the turn from who stops in the midst of it', async () => {
    const [here, elsewhere] = [await postgres.open(), await postgres.elsewhere()];
    const { opened: inside, open: entered } = gate();
    const { opened: goingOn, open: goOn } = gate();
    const stuck = here.locks.run('line', async () => {
      entered();
      await goingOn;
      return here.jobs.instances();
    });
    stuck.catch(() => undefined);
    await inside;
    await elsewhere.locks.run('line', async () => undefined);
    goOn();
    await expect(stuck).rejects.toThrow();
    expect(await query(postgres.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});

describe('UnitOfWork of PostgreSQL', () => {
  it('gives up on a unit that loses every time', async () => {
    const { unitOfWork, teams, accounts } = await postgres.open();
    const elsewhere = await postgres.elsewhere();
    const team = aTeam();
    const account = anAccount(team);
    await teams.add(team);
    await accounts.add(account);
    let attempts = 0;
    const loses = unitOfWork.run(async () => {
      const read = (await accounts.byId(account.id)) as Account;
      await elsewhere.accounts.save({ ...read, name: `changed ${++attempts} times` });
      await accounts.save({ ...read, name: 'never' });
    });
    await expect(loses).rejects.toThrow(StorageUnavailable);
    expect((await accounts.byId(account.id))?.name).toBe(`changed ${attempts} times`);
  });
});

/** The suite is worth its name only if a weaker isolation fails it. */
describe('read committed, which is no UnitOfWork', () => {
  const weaker = async () => {
    await postgres.open();
    return postgresRepositories(new TypeOrmUnitOfWork(postgres.source, 'READ COMMITTED'));
  };

  it('loses updates', async () => {
    expect(await countedUp(await weaker(), 6)).toBe(1);
  });

  it('lets all add that have counted none', async () => {
    expect(await addedUnderCap(await weaker(), 6)).toBe(6);
  });
});

describe('MemoryStore', () => {
  it('refuses what a unit left running when it ended', async () => {
    const store = new MemoryStore();
    const { accounts } = memoryRepositories(store);
    const account = anAccount(aTeam());
    let left: Promise<void> = Promise.resolve();
    await store.run(async () => {
      left = pause(5).then(() => accounts.add(account));
    });
    await expect(left).rejects.toThrow('is over');
    expect(await accounts.count()).toBe(0);
  });
});
