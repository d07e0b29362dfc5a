import { readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { atOnce } from '../support/barrier.js';
import { credentialsIn } from '../support/credentials-in.js';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import { parseMail, type ReceivedMail } from '../support/eml.js';
import { Service, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import { password } from '../support/workspace.js';

/** Runs a real SMTP server that can be down, never greet, or never acknowledge a message. */
class ShakyMailServer {
  readonly received: ReceivedMail[] = [];
  holds: 'nothing' | 'greetings' | 'messages' = 'nothing';
  private server: SMTPServer | null = null;
  private port = 0;

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  async up(): Promise<void> {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      disableReverseLookup: true,
      closeTimeout: 100,
      onConnect: (_session, done) => {
        if (this.holds !== 'greetings') done();
      },
      onData: (stream, _session, done) => {
        text(stream).then((source) => {
          this.received.push(parseMail(source));
          if (this.holds !== 'messages') done();
        }, done);
      },
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.server.address() as AddressInfo).port;
    this.server = server;
  }

  async down(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (server) await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

const ACCOUNTS = 5;
const VERIFICATION = /tnv_[0-9A-Za-z]{49}/;

/** The tests run in order. Their services use the same database. */
describe('e-mails while the mail server', () => {
  let mailServer: ShakyMailServer;
  let database: TestDatabase;
  let dataDir: string;
  let service: Service;
  let accounts = 0;
  beforeAll(async () => {
    mailServer = new ShakyMailServer();
    await mailServer.up();
    database = await freshDatabase();
    dataDir = await temporaryFolder();
    service = await start();
  });
  beforeEach(() => {
    accounts += ACCOUNTS;
    mailServer.received.length = 0;
  });
  afterAll(async () => {
    await service.stop();
    await mailServer.down();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const start = () => {
    const env = {
      SERVICE_SMTP_URL: mailServer.url,
      SERVICE_MAX_ACCOUNTS: '100',
      SERVICE_SHUTDOWN_TIMEOUT_S: '2',
      SERVICE_LOG_LEVEL: 'debug',
    };
    return Service.start({ alone: 'the mails that one sender had in hand', databaseUrl: database.url, dataDir, env });
  };
  const address = (n: number) => `p${accounts + n}@example.com`;
  const registered = async (n: number): Promise<string[]> => {
    const json = { name: `P${accounts + n}`, email: address(n), password };
    const { status, body } = await service.post('/v1/auth/register', undefined, json);
    expect(status).toBe(201);
    return [body.token, body.api_key];
  };
  const rows = <Row extends object>(sql: string) => query<Row>(database.url, sql);
  /** Makes all waiting mails due now. */
  const becomeDue = () => rows('UPDATE graphile_worker._private_jobs SET run_at = now()');
  const waiting = async (condition = 'true') =>
    (await rows(`SELECT id FROM graphile_worker.jobs WHERE task_identifier = 'mail' AND ${condition}`)).length;
  const oneInHand = () => until('one is in delivery', async () => (await waiting('locked_at IS NOT NULL')) > 0);
  const allDelivered = () => until('all are delivered', async () => (await waiting()) === 0);
  const recipients = () => mailServer.received.map(({ to }) => to[0]?.address).sort();
  const everybody = () => Array.from({ length: ACCOUNTS }, (_, n) => address(n)).sort();

  const dump = async () => {
    const tables = await rows<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('public', 'graphile_worker')`,
    );
    const all = tables.map(({ name }) => `SELECT string_agg(t::text, chr(10)) AS content FROM ${name} t`);
    const contents = await rows<{ content: string | null }>(all.join(' UNION ALL '));
    expect(contents.filter(({ content }) => content !== null).length).toBeGreaterThan(2);
    return contents.map(({ content }) => content).join('\n');
  };
  /** Expects no credential, mailed token or password in the database, the log or the output. */
  const nothingUsable = async (handedOut: readonly string[]) => {
    const mailed = mailServer.received.map((mail) => VERIFICATION.exec(mail.text)?.[0] ?? 'no token in the mail');
    const log = await readFile(join(dataDir, 'tenon.log'), 'utf8');
    expect(log.length).toBeGreaterThan(0);
    for (const place of [await dump(), log, service.errors]) {
      expect(credentialsIn(place)).toEqual([]);
      for (const secret of [...handedOut, ...mailed]) expect(place).not.toContain(secret.slice(4, 40));
      expect(place).not.toContain(password);
    }
  };

  it('is out of reach: registrations succeed at once, and every mail arrives once when it is back', async () => {
    await mailServer.down();
    const handedOut = (await atOnce(ACCOUNTS, registered)).flat();
    expect(await waiting()).toBe(ACCOUNTS);
    await until('all were tried', async () => (await waiting('last_error IS NOT NULL')) === ACCOUNTS);
    expect(await readFile(join(dataDir, 'tenon.log'), 'utf8')).toContain('mail not delivered');
    await nothingUsable(handedOut);
    await mailServer.up();
    await becomeDue();
    await allDelivered();
    expect(recipients()).toEqual(everybody());
    await nothingUsable(handedOut);
    for (const { text } of mailServer.received) {
      const token = VERIFICATION.exec(text)?.[0];
      expect((await service.post('/v1/auth/verify-email', undefined, { token })).status).toBe(200);
    }
  });

  it.each(['greetings', 'messages'] as const)('hangs (at the %s): no mail is lost in a shutdown', async (held) => {
    mailServer.holds = held;
    const handedOut = (await atOnce(ACCOUNTS, registered)).flat();
    expect(await waiting('last_error IS NULL')).toBe(ACCOUNTS); // no registration waited for the mail server
    await oneInHand();
    if (held === 'messages') await until('one was sent', () => mailServer.received.length > 0);
    service.signal('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(await waiting('last_error IS NULL')).toBe(ACCOUNTS); // the service ended before a delivery failed
    await nothingUsable(handedOut);
    mailServer.holds = 'nothing';
    service = await start();
    await allDelivered();
    expect([...new Set(recipients())]).toEqual(everybody());
    expect(recipients().length).toBeLessThanOrEqual(ACCOUNTS + 1);
  });

  it('has not acknowledged a mail at a kill -9 of the service: each mail arrives, at most one twice', async () => {
    mailServer.holds = 'messages';
    const handedOut = (await atOnce(ACCOUNTS, registered)).flat();
    await until('one is on its way', () => mailServer.received.length === 1);
    await oneInHand();
    await nothingUsable(handedOut);
    await service.kill();
    mailServer.holds = 'nothing';
    service = await start();
    const started = Date.now();
    await allDelivered();
    expect(Date.now() - started).toBeLessThan(10_000);
    expect([...new Set(recipients())]).toEqual(everybody());
    expect(mailServer.received.length).toBeLessThanOrEqual(ACCOUNTS + 1);
    // A mail program recognizes a duplicate by its Message-ID.
    expect(new Set(mailServer.received.map(({ messageId }) => messageId)).size).toBe(ACCOUNTS);
    await nothingUsable(handedOut);
  });
});
