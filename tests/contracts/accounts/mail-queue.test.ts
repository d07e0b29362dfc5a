import { MAIL, MailQueue } from '../../../src/application/accounts/mail-queue.js';
import { Sealer } from '../../../src/infrastructure/crypto/secrets.js';
import { NoTracer } from '../../../src/infrastructure/system/adapters.js';
import {
  createDataSource,
  createMigrationSource,
  migrationNames,
} from '../../../src/infrastructure/typeorm/data-source.js';
import { TypeOrmInstanceRegistry } from '../../../src/infrastructure/typeorm/jobs/instance-registry.js';
import { migrate } from '../../../src/infrastructure/typeorm/migrate.js';
import { GraphileWorkQueue } from '../../../src/infrastructure/typeorm/queue/graphile-work-queue.js';
import { OutageLog } from '../../../src/infrastructure/typeorm/storage-errors.js';
import { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { MemoryMailer } from '../../fakes/accounts/memory-mailer.js';
import { freshDatabase, query, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { RecordingLog } from '../../support/recording-log.js';
import { aMessage, ids } from '../../support/records.js';

const token = 'tnv_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM';
const message = aMessage({
  to: { name: 'Åse "A." O’Neill', address: 'ada@example.com' },
  subject: 'A private matter, Grüße, 王秀英 🦆',
  text: `Open https://tenon.example/verify-email?token=${token}\r\n\ttab\n`,
  html: `<a href="https://tenon.example/verify-email?token=${token}">Open</a>`,
});

describe('MailQueue on PostgreSQL', () => {
  let database: TestDatabase;
  let close: (() => Promise<void>) | undefined;
  afterEach(async () => {
    await close?.();
    await database.drop();
  });

  async function opened(secret = 'a secret of the tests') {
    const source = await createDataSource(database.url, 4).initialize();
    const log = new RecordingLog();
    const registry = new TypeOrmInstanceRegistry(source);
    const unitOfWork = new TypeOrmUnitOfWork(source);
    const queue = new GraphileWorkQueue(source, unitOfWork, registry, log, new OutageLog(log), new NoTracer());
    const mailer = new MemoryMailer();
    const mails = new MailQueue(queue, new Sealer(secret, 'outbox'), mailer, ids, log);
    queue.register(MAIL, mails);
    close = async () => {
      await queue.stop(1_000);
      await registry.leave();
      await source.destroy();
    };
    return { mails, mailer, queue, log, unitOfWork };
  }

  const stored = async () => {
    const tasks = 'SELECT job::text AS task FROM graphile_worker._private_jobs job';
    return (await query<{ task: string }>(database.url, tasks)).map(({ task }) => task).join('\n');
  };

  it('hides a waiting mail from readers of the database, and deletes it after the delivery', async () => {
    database = await freshDatabase();
    const { mails, mailer, queue, log } = await opened();
    await mails.add(message);
    const text = await stored();
    const decoded = text.split(/[^\w-]+/).map((field) => Buffer.from(field, 'base64url').toString('latin1'));
    for (const secret of [token, 'ada@example.com', 'Neill', 'private matter', 'verify-email']) {
      expect(text).not.toContain(secret);
      expect(decoded.join('\n')).not.toContain(secret);
    }
    mailer.failure = new Error('the mail server is away');
    await queue.start();
    await log.saw('mail not delivered');
    expect(mailer.sent).toEqual([]);
    mailer.failure = null;
    await eventually(() => mailer.sent.length === 1);
    expect(mailer.sent).toEqual([{ id: expect.stringMatching(/^msg_/), message }]);
    await eventually(async () => (await stored()) === '');
  });

  it('logs that a mail was sealed with another secret, and keeps the mail', async () => {
    database = await freshDatabase();
    const { queue, log } = await opened();
    const elsewhere = new MailQueue(queue, new Sealer('another secret', 'outbox'), new MemoryMailer(), ids, log);
    await elsewhere.add(message);
    await queue.start();
    expect(String((await log.saw('mail not delivered')).fields.error)).toContain('SERVICE_SECRET');
    expect(await stored()).toContain('msg_');
  });

  it('delivers mails that waited in the table of an earlier version, but no delivered ones', async () => {
    database = await freshDatabase({ migrated: false });
    const earlier = migrationNames.slice(0, migrationNames.indexOf('OneQueue1765065600000'));
    const source = await createMigrationSource(database.url, earlier).initialize();
    await source.runMigrations();
    await source.destroy();
    const sealed = new Sealer('a secret of the tests', 'outbox').seal(JSON.stringify(message), 'msg_waiting');
    await query(
      database.url,
      `INSERT INTO outbox (id, sealed, failures, due_at, delivered_at)
       VALUES ('msg_waiting', $1, 3, now() + interval '1 hour', NULL), ('msg_delivered', NULL, 0, now(), now())`,
      [sealed],
    );
    await migrate(database.url);
    const { mailer, queue } = await opened();
    await queue.start();
    await eventually(() => mailer.sent.length > 0);
    await eventually(async () => (await stored()) === '');
    expect(mailer.sent).toEqual([{ id: 'msg_waiting', message }]);
  });
});
