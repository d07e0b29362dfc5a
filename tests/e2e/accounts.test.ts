import { query } from '../support/database.js';
import { mailedToken } from '../support/mailbox.js';
import { Service } from '../support/service.js';
import { password, register } from '../support/workspace.js';

describe('accounts', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start({ env: { SERVICE_MAX_ACCOUNTS: '3' } });
    await register(service, 'Ada');
  });
  afterAll(() => service.stop());

  const account = (over: object) => ({ name: 'Bob', email: 'bob@example.com', password, ...over });
  const registerWith = (over: object) => service.post('/v1/auth/register', undefined, account(over));
  const database = () => service.databaseUrl as string;
  const accountCount = async () =>
    Number((await query<{ n: string }>(database(), 'SELECT count(*) n FROM accounts'))[0]?.n);

  it.each([
    ['name', { name: '' }],
    ['name', { name: '   ' }],
    ['name', { name: 'a'.repeat(101) }],
    ['name', { name: 'two\nlines' }],
    ['name', { name: undefined }],
    ['email', { email: 'nobody' }],
    ['email', { email: 'a@b@c' }],
    ['email', { email: '@example.com' }],
    ['email', { email: 'a@' }],
    ['email', { email: 'a b@example.com' }],
    ['email', { email: 'a@example.com\r\nBcc: eve@example.com' }],
    ['email', { email: '<a@example.com>' }],
    ['email', { email: `${'a'.repeat(243)}@example.com` }],
    ['email', { email: ['a@example.com'] }],
    ['password', { password: '1234567' }],
    ['password', { password: 'a'.repeat(129) }],
    ['password', { password: '\u{1F600}'.repeat(7) }],
    ['password', { password: 12345678 }],
  ])('refuses a registration with a bad %s and stores nothing (%#)', async (field, over) => {
    const before = await accountCount();
    const { status, body } = await registerWith(over);
    expect({ status, code: body.code }).toEqual({ status: 422, code: 'invalid_request' });
    expect(body.details.map(({ path }: { path: string }) => path)).toEqual([field]);
    expect(body.error).toContain(field);
    expect(await accountCount()).toBe(before);
  });

  it('names every bad field at once', async () => {
    const { body } = await registerWith({ name: '', email: 'x', password: 'short' });
    expect(body.details.map(({ path }: { path: string }) => path)).toEqual(['name', 'email', 'password']);
  });

  it('refuses a taken e-mail in any spelling, and logs in with any', async () => {
    for (const email of ['ada@example.com', ' ADA@EXAMPLE.COM ', 'Ada@Example.com', '\uFF41da@example.com']) {
      expect(await registerWith({ email })).toMatchObject({ status: 409, body: { code: 'email_taken' } });
      const login = await service.post('/v1/auth/login', undefined, { email, password });
      expect(login).toMatchObject({ status: 200, body: { user: { email: 'ada@example.com' } } });
    }
  });

  it('answers an unknown e-mail and a wrong password alike', async () => {
    const answers = await Promise.all(
      [{ email: 'nobody@example.com' }, { email: 'ada@example.com' }, { email: 'no e-mail at all' }].map((one) =>
        service.post('/v1/auth/login', undefined, { ...one, password: 'wrong password' }),
      ),
    );
    const [first, ...others] = answers.map(({ status, body: { request_id: _, ...body } }) => ({ status, body }));
    expect(first).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    for (const other of others) expect(other).toEqual(first);
  });

  it('takes an address in any script, and knows it in every Unicode form', async () => {
    const composed = 'zo\u00e9@example.com';
    expect((await registerWith({ email: 'zoe\u0301@example.com' })).status).toBe(201);
    expect(await registerWith({ email: composed })).toMatchObject({ status: 409, body: { code: 'email_taken' } });
    const { body } = await service.post('/v1/auth/login', undefined, { email: composed, password });
    await query(database(), 'DELETE FROM accounts WHERE id = $1', [body.user.id]);
  });

  it('lets every character of a password count', async () => {
    const long = 'x'.repeat(127);
    expect((await registerWith({ email: 'long@example.com', password: `${long}1` })).status).toBe(201);
    const login = (text: string) =>
      service.post('/v1/auth/login', undefined, { email: 'long@example.com', password: text });
    expect((await login(`${long}2`)).status).toBe(401);
    expect((await login(`${long}1`)).status).toBe(200);
  });

  it('makes later accounts members of the same team, up to the cap', async () => {
    expect((await registerWith({ email: 'last@example.com' })).body.user.role).toBe('member');
    const [row] = await query<{ teams: string }>(database(), 'SELECT count(DISTINCT team_id) teams FROM accounts');
    expect(row?.teams).toBe('1');
    const refused = await registerWith({ email: 'more@example.com' });
    expect(refused).toMatchObject({ status: 403, body: { code: 'registration_closed' } });
    expect(refused.body.error).toContain('3 accounts');
    expect(await accountCount()).toBe(3);
  });

  it('tells verification tokens apart', async () => {
    const verify = (token: unknown) => service.post('/v1/auth/verify-email', undefined, { token });
    for (const token of ['', 'x', `tnv_${'a'.repeat(49)}`]) {
      expect(await verify(token)).toMatchObject({ status: 404, body: { code: 'token_not_found' } });
    }
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    expect(await verify(body.token)).toMatchObject({ status: 404, body: { code: 'token_not_found' } });
    expect(await verify(undefined)).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
  });

  it('keeps digests alone: nothing in a dump opens anything', async () => {
    const { body } = await service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });
    const tables = ['accounts', 'credentials', 'mailed_tokens', 'outbox'];
    const dump = JSON.stringify(await Promise.all(tables.map((table) => query(database(), `SELECT * FROM ${table}`))));
    for (const secret of [body.token, body.api_key, password]) {
      expect(dump).not.toContain(secret);
      expect(dump).not.toContain(secret.slice(4, -6));
    }
    expect(dump).not.toContain('verify-email');
  });

  it('has registration closed to all but the holder of the master key where it is by invite', async () => {
    const env = { SERVICE_REGISTRATION: 'invite', SERVICE_MASTER_KEY: 'master-key-of-the-tests' };
    const closed = await Service.start({ env });
    try {
      const first = await closed.post('/v1/auth/register', undefined, account({}));
      expect(first).toMatchObject({ status: 403, body: { code: 'registration_closed' } });
      const byKey = await closed.post('/v1/auth/register', env.SERVICE_MASTER_KEY, account({}));
      expect(byKey).toMatchObject({ status: 201, body: { user: { role: 'admin' } } });
      const second = await closed.post(
        '/v1/auth/register',
        env.SERVICE_MASTER_KEY,
        account({ email: 'x@example.com' }),
      );
      expect(second).toMatchObject({ status: 403, body: { code: 'registration_closed' } });
    } finally {
      await closed.stop();
    }
  });
});

describe('a verification token', () => {
  it('expires after 24 hours', async () => {
    const service = await Service.start();
    try {
      await register(service, 'Ada');
      const token = await mailedToken(service, 'ada@example.com', 'tnv');
      await query(service.databaseUrl as string, `UPDATE mailed_tokens SET expires_at = now()`);
      const answer = await service.post('/v1/auth/verify-email', undefined, { token });
      expect(answer).toMatchObject({ status: 410, body: { code: 'token_expired' } });
    } finally {
      await service.stop();
    }
  });
});
