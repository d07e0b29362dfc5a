import { LAST_RELEASE } from '../../src/infrastructure/typeorm/releases.js';
import { type Run, tenon, tenonProcess } from '../support/command-line.js';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import { databaseThrough } from '../support/database-before.js';
import { masterKey } from '../support/monitoring.js';
import { Service, temporaryFolder } from '../support/service.js';
import { password } from '../support/workspace.js';

describe('a service and the command line beside it', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({
      env: { SERVICE_MASTER_KEY: masterKey, SERVICE_REGISTRATION: 'invite', SERVICE_MAX_ACCOUNTS: '2' },
    });
  });
  afterAll(() => service.stop());

  const run = (args: readonly string[], options: Run = {}) => tenon(service, args, options);
  const login = async (email: string, secret: string) => {
    const { status, body } = await service.post('/v1/auth/login', undefined, { email, password: secret });
    return { ...body, status } as { status: number; token: string; api_key: string };
  };
  const passwordIn = (out: string) => /shown this once: (\S+)$/m.exec(out)?.[1] ?? '';
  const entries = async (action: string) =>
    (await service.get(`/v1/audit?actor=command_line&action=${action}`, masterKey)).body.entries;
  const usable = async (token: string) => (await service.get('/v1/projects', token)).status === 200;

  it('shows all metrics to the master key, in the format of Prometheus', async () => {
    const { status, headers, body } = await service.get('/metrics', masterKey);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    for (const line of [
      'tenon_database_up 1',
      'tenon_outbox_mails 0',
      'tenon_outbox_failed_mails 0',
      'tenon_outbox_oldest_mail_age_seconds 0',
      'tenon_queue_waiting_tasks 0',
      'tenon_queue_running_tasks 0',
      'tenon_queue_failed_tasks 0',
      'tenon_password_hashing_running 0',
      'tenon_password_hashing_refusals_total 0',
      'tenon_deployments{status="running"} 0',
      'tenon_chat_runtimes{state="ready"} 0',
      'tenon_rate_limit_refusals_total{limit="default"} 0',
    ]) {
      expect(body.split('\n')).toContain(line);
    }
    expect(body).toMatch(/^tenon_database_pool_connections [1-9]/m);
    // The queries of this answer itself may wait for a moment.
    expect(body).toMatch(/^tenon_database_pool_waiting_requests \d+$/m);
    expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(body).toMatch(/^process_resident_memory_bytes /m);
    const named = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]);
    expect(named.filter(([name, type]) => (type === 'counter') !== name?.endsWith('_total'))).toEqual([]);
  });

  it('creates the first admin with a generated password, which is shown once', async () => {
    const { code, out, err } = await run(['create-admin', '--email', 'ada@example.com', '--name', 'Ada']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { token } = await login('ada@example.com', passwordIn(out));
    const { body } = await service.get('/v1/auth/me', token);
    expect(body).toMatchObject({ name: 'Ada', role: 'admin', email_verified: true });
    expect((await service.post('/v1/keys', token, {})).status).toBe(201);
    expect(await entries('account')).toEqual([
      expect.objectContaining({
        action: 'account.registered',
        actor: { kind: 'command_line', id: null, name: expect.any(String), credential_id: null },
        object: { kind: 'account', id: body.id, name: 'Ada' },
        request_id: null,
      }),
    ]);
  });

  it('reads a password from standard input, and creates further admins of the same team', async () => {
    const args = ['create-admin', '--email', 'bob@example.com', '--name', 'Bob', '--password-stdin'];
    const { code, out } = await tenonProcess(service, args, { input: `${password}\nwhatever\n` });
    expect(code).toBe(0);
    expect(passwordIn(out)).toBe('');
    const { token } = await login('bob@example.com', password);
    expect((await service.get('/v1/auth/users', token)).body.count).toBe(2);
  });

  it.each([
    ['an e-mail that is taken', ['--email', 'ADA@example.com', '--name', 'X'], '', /e-mail exists/],
    ['one account too many', ['--email', 'eve@example.com', '--name', 'Eve'], '', /limit of 2 accounts/],
    ['a malformed e-mail', ['--email', 'eve', '--name', 'Eve'], '', /email: must be an address/],
    ['a short password', ['--email', 'e@x.example', '--name', 'Eve', '--password-stdin'], 'short\n', /password: must/],
  ])('refuses to create an admin: %s', async (_, args, input, message) => {
    const before = await entries('account');
    const { code, err } = await run(['create-admin', ...args], { input, env: { SERVICE_MAX_ACCOUNTS: '2' } });
    expect(code).toBe(1);
    expect(err).toMatch(message);
    expect(await entries('account')).toEqual(before);
  });

  it('gives an account a new password, which ends its sessions', async () => {
    const { token, api_key: key } = await login('bob@example.com', password);
    const { code, out } = await run(['reset-password', '--email', 'Bob@example.com']);
    expect(code).toBe(0);
    expect([await usable(token), (await service.get('/v1/status', key)).status]).toEqual([false, 401]);
    expect((await login('bob@example.com', password)).status).toBe(401);
    expect((await login('bob@example.com', passwordIn(out))).status).toBe(200);
    expect(await entries('account.password_reset')).toHaveLength(1);
    expect(await run(['reset-password', '--email', 'eve@example.com'])).toMatchObject({
      code: 1,
      err: 'tenon: There is no such account.\n',
    });
  });

  it('verifies an e-mail address without the mail, once', async () => {
    const unverify = "UPDATE accounts SET email_verified_at = NULL WHERE email = 'bob@example.com'";
    await query(service.databaseUrl as string, unverify);
    await run(['reset-password', '--email', 'bob@example.com', '--password-stdin'], { input: password });
    const { token } = await login('bob@example.com', password);
    const mint = async () => (await service.post('/v1/keys', token, {})).status;
    expect(await mint()).toBe(403);
    for (const email of ['Bob@example.com', 'bob@example.com']) {
      const done = { code: 0, out: 'bob@example.com is verified\n', err: '' };
      expect(await run(['verify-email', '--email', email])).toEqual(done);
      expect(await mint()).toBe(201);
    }
    expect(await entries('account.email_verified')).toEqual([
      expect.objectContaining({ object: expect.objectContaining({ kind: 'account', name: 'Bob' }) }),
    ]);
    expect(await run(['verify-email', '--email', 'eve@example.com'])).toMatchObject({
      code: 1,
      err: 'tenon: There is no such account.\n',
    });
  });

  it('signs out one account or all accounts, and ends their keys on request', async () => {
    await run(['reset-password', '--email', 'ada@example.com', '--password-stdin'], { input: password });
    await run(['reset-password', '--email', 'bob@example.com', '--password-stdin'], { input: password });
    const [ada, bob] = [await login('ada@example.com', password), await login('bob@example.com', password)];
    expect((await run(['revoke-sessions', '--email', 'ada@example.com'])).out).toBe('1 account is signed out\n');
    expect([await usable(ada.token), await usable(bob.token)]).toEqual([false, true]);
    expect((await service.get('/v1/status', ada.api_key)).status).toBe(200);
    expect((await run(['revoke-sessions', '--all', '--keys'])).code).toBe(0);
    expect(await usable(bob.token)).toBe(false);
    for (const { api_key: key } of [ada, bob]) expect((await service.get('/v1/status', key)).status).toBe(401);
    expect(await entries('account.sessions_revoked')).toHaveLength(3);
  });

  it('asks a person for the password twice, and generates one if nothing is typed', async () => {
    const args = ['reset-password', '--email', 'bob@example.com'];
    const differing = await run(args, { typed: ['one password', 'another password'] });
    expect(differing).toMatchObject({ code: 2, err: 'tenon: the two passwords differ\n' });
    expect((await run(args, { typed: [password, password] })).code).toBe(0);
    expect((await login('bob@example.com', password)).status).toBe(200);
    const { out } = await run(args, { typed: [''] });
    expect((await login('bob@example.com', passwordIn(out))).status).toBe(200);
  });

  it.each([
    [[], 2],
    [['help'], 0],
    [['--help'], 0],
    [['help', 'create-admin'], 0],
    [['migrate', '--help'], 0],
    [['start', 'now'], 2],
    [['nonsense'], 2],
    [['constructor'], 2],
    [['migrate', 'now'], 2],
    [['create-admin', '--email', 'a@example.com'], 2],
    [['create-admin', '--password', 'secret', '--email', 'a@example.com', '--name', 'A'], 2],
    [['verify-email'], 2],
    [['revoke-sessions'], 2],
    [['revoke-sessions', '--all', '--email', 'a@example.com'], 2],
  ])('shows its usage: %j', async (args, expected) => {
    const { code, out, err } = await run(args);
    expect(code).toBe(expected);
    expect(`${out}${err}`).toContain('tenon');
    if (expected === 0) expect(err).toBe('');
    else if (args.length > 0) expect(out).toBe('');
  });

  it('names the settings and the folder that it cannot use', async () => {
    const { code, err } = await run(['migrate'], { env: { SERVICE_PORT: 'x', SERVICE_BCRYPT_COST: '99' } });
    expect({ code, lines: err.trim().split('\n') }).toEqual({
      code: 1,
      lines: [expect.stringContaining('SERVICE_PORT'), expect.stringContaining('SERVICE_BCRYPT_COST')],
    });
    const nowhere = { dataDir: await temporaryFolder(), databaseUrl: null };
    const args = ['reset-password', '--email', 'a@example.com'];
    expect(await tenon(nowhere, args)).toMatchObject({ code: 1, err: expect.stringContaining('no database in') });
  });

  it('checks each part with doctor, and names the broken ones', async () => {
    const { code, out } = await run(['doctor']);
    const lines = out.trim().split('\n');
    expect({ code, lines: lines.map((line) => line.slice(0, 6)) }).toEqual({ code: 0, lines: Array(8).fill('ok    ') });
    const database = await freshDatabase({ migrated: false });
    const at = { dataDir: service.dataDir, databaseUrl: database.url };
    const bucket = { SERVICE_MODEL_STORE: 's3://models', SERVICE_S3_ENDPOINT: 'http://127.0.0.1:1' };
    const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' };
    const env = { SERVICE_SMTP_URL: 'smtp://127.0.0.1:1', SERVICE_NONSENSE: '1', ...bucket, ...keys };
    const ill = await tenon(at, ['doctor'], { env });
    await database.drop();
    expect(ill).toMatchObject({ code: 1, err: expect.stringMatching(/tenon: 4 of 8 are to be mended\n$/) });
    for (const name of ['settings', 'model store', 'database', 'mail']) expect(ill.out).toContain(`MEND  ${name}: `);
    expect(ill.out).toContain('mend SERVICE_SMTP_URL');
    const away = await tenon({ ...at, databaseUrl: 'postgres://u:hidden@localhost:1/x' }, ['doctor']);
    expect(away.out).toMatch(/MEND {2}database: localhost:1\/x \(DATABASE_URL\) cannot be used \(.+\)/);
    expect(away.out + away.err).not.toContain('hidden');
  });

  it('says with doctor whether the tables of an earlier version need a stop of all instances', async () => {
    const names = [LAST_RELEASE.lastMigration, 'OwnCalls1766448000000'];
    const [last, older] = (await Promise.all(names.map(databaseThrough))) as [TestDatabase, TestDatabase];
    // This release may have no migration of its own, so that nothing would be missing.
    await query(last.url, 'DELETE FROM migrations WHERE name = $1', ['Foundation1763683200000']);
    const lineFor = async ({ url }: TestDatabase) =>
      (await tenon({ dataDir: service.dataDir, databaseUrl: url }, ['doctor'])).out;
    expect(await lineFor(last)).toMatch(/MEND {2}database: .+ start instances of this version one after another/);
    expect(await lineFor(older)).toMatch(/MEND {2}database: .+ stop all instances before you start this version/);
    await Promise.all([last.drop(), older.drop()]);
  });

  it('migrates the tables once', async () => {
    const database = await freshDatabase({ migrated: false });
    const at = { dataDir: service.dataDir, databaseUrl: database.url };
    expect(await tenon(at, ['migrate'])).toMatchObject({ code: 0, out: expect.stringContaining('done: Foundation') });
    expect(await tenon(at, ['migrate'])).toMatchObject({ code: 0, out: 'the tables are up to date\n' });
    const kept = await query(database.url, 'SELECT action, object_id, actor_kind FROM audit_entries');
    const name = new URL(database.url).pathname.slice(1);
    expect(kept).toEqual([{ action: 'database.migrated', object_id: name, actor_kind: 'command_line' }]);
    await query(database.url, "INSERT INTO migrations (timestamp, name) VALUES (9e12, 'Later9000000000000')");
    const newer = expect.stringMatching(/^[^\n]+ newer version of Tenon .+ Later9000000000000[^\n]+\n$/);
    for (const command of ['migrate', 'start'])
      expect(await tenon(at, [command])).toMatchObject({ code: 1, err: newer });
    const doctored = { code: 1, out: expect.stringMatching(/MEND {2}database: .+ newer version of Tenon/) };
    expect(await tenon(at, ['doctor'])).toMatchObject(doctored);
    await database.drop();
  });
});
