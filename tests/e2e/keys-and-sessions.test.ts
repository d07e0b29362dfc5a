import { query } from '../support/database.js';
import { mailedToken, mails } from '../support/mailbox.js';
import { Service } from '../support/service.js';
import { ask, completions, createProject, type Member, password, register } from '../support/workspace.js';

describe('keys, sessions and passwords', () => {
  let service: Service;
  let admin: Member;
  let other: Member;

  beforeAll(async () => {
    service = await Service.start({ env: { SERVICE_PASSWORD_BLOCKLIST: 'true', SERVICE_MAX_ACCOUNTS: '10' } });
    admin = await register(service, 'Ada');
    other = await register(service, 'Mia');
  });
  afterAll(() => service.stop());

  const ada = 'ada@example.com';
  const login = async (text = password) =>
    (await service.post('/v1/auth/login', undefined, { email: ada, password: text })).body;
  const resend = () => service.post('/v1/auth/verify-email/resend', admin.token);
  const mint = (json: unknown) => service.post('/v1/keys', admin.token, json);
  const chats = async (key: string) => {
    const project = await createProject(service, admin.token);
    return (await service.post(completions(project), key, ask(project, 'Hi'))).status;
  };
  const keyIds = (body: { keys: { id: string }[] }) => body.keys.map(({ id }) => id);

  it('mints keys only for a verified e-mail, which another mail can help with', async () => {
    const refused = await service.call('POST', '/v1/keys', { token: admin.token, raw: '{' });
    expect(refused).toMatchObject({ status: 403, body: { code: 'email_unverified' } });
    expect(await resend()).toMatchObject({ status: 200, body: { email_verified: false } });
    const token = await mailedToken(service, ada, 'tnv', 1);
    expect((await service.post('/v1/auth/verify-email', undefined, { token })).status).toBe(200);
    expect(await resend()).toMatchObject({ status: 200, body: { email_verified: true } });
    const rows = await query(service.databaseUrl as string, 'SELECT id FROM outbox');
    expect(rows).toHaveLength(3); // two registrations and one repetition
    const minted = await mint({ name: 'nightly', expires_in: 3600 });
    expect(minted).toMatchObject({ status: 201, body: { name: 'nightly', last_used_at: null } });
    expect(minted.body.key).toMatch(/^tnk_/);
    expect(minted.body.key.endsWith(minted.body.hint.slice(-4))).toBe(true);
    expect(minted.body.expires_at - minted.body.created_at).toBeCloseTo(3600, 0);
    expect((await service.call('POST', '/v1/keys', { token: admin.token })).status).toBe(201);
  });

  it.each([
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: 7 }],
    ['expires_in', { expires_in: 0 }],
    ['expires_in', { expires_in: '60' }],
  ])('refuses a key with a bad %s (%#)', async (path, json) => {
    const { status, body } = await mint(json);
    expect({ status, path: body.details?.[0].path }).toEqual({ status: 422, path });
  });

  it('lists one’s own keys a page at a time, with their last use, and revokes them at once', async () => {
    const { body: minted } = await mint({ name: 'mine' });
    expect(await chats(minted.key)).toBe(503);
    const all = (await service.get('/v1/keys', admin.token)).body;
    expect(all).toMatchObject({ next_cursor: null, count: all.keys.length });
    expect(all.keys[0]).toEqual({
      id: minted.id,
      name: 'mine',
      hint: minted.hint,
      created_at: minted.created_at,
      last_used_at: expect.any(Number),
      expires_at: null,
    });
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await service.get(`/v1/keys?limit=2${cursor && `&cursor=${cursor}`}`, admin.token);
      expect(body.keys.length).toBeLessThanOrEqual(2);
      paged.push(...keyIds(body));
      cursor = body.next_cursor;
    }
    expect(paged).toEqual(keyIds(all));
    for (const text of ['limit=0', 'limit=1001', 'limit=x', 'limit=1.5', 'limit=1&limit=2', 'cursor=x']) {
      const answer = await service.get(`/v1/keys?${text}`, admin.token);
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
    }
    const revoke = (by: Member) => service.delete(`/v1/keys/${minted.id}`, by.token);
    expect((await revoke(other)).status).toBe(404);
    expect(await revoke(admin)).toMatchObject({ status: 200, body: { id: minted.id, deleted: true } });
    expect(await chats(minted.key)).toBe(401);
    expect((await revoke(admin)).status).toBe(404);
  });

  it('ends a key when it expires', async () => {
    const { body } = await mint({ expires_in: 60 });
    await query(service.databaseUrl as string, 'UPDATE credentials SET expires_at = now() WHERE id = $1', [body.id]);
    expect(await chats(body.key)).toBe(401);
    expect(keyIds((await service.get('/v1/keys', admin.token)).body)).not.toContain(body.id);
  });

  it('lists one’s own sessions and ends any of them', async () => {
    const session = await login();
    const { body } = await service.get('/v1/auth/sessions', session.token);
    expect(body.count).toBe(body.sessions.length);
    expect(body.sessions.filter(({ current }: { current: boolean }) => current)).toHaveLength(1);
    const [first] = body.sessions;
    expect(first).toMatchObject({ current: true, last_used_at: expect.any(Number) });
    expect(first.expires_at - first.created_at).toBeCloseTo(30 * 24 * 3600, 0);
    const end = (by: Member) => service.delete(`/v1/auth/sessions/${first.id}`, by.token);
    expect((await end(other)).status).toBe(404);
    expect(await end(admin)).toMatchObject({ status: 200, body: { id: first.id, deleted: true } });
    expect((await service.get('/v1/auth/me', session.token)).status).toBe(401);
  });

  it('changes name and password by one’s own hand, and ends the other sessions and login keys', async () => {
    const patch = (json: object, token = admin.token) => service.call('PATCH', '/v1/auth/me', { token, json });
    const change = { password: 'another one', current_password: password };
    const invalid = (path: string) => ({ status: 422, body: { code: 'invalid_request', details: [{ path }] } });
    expect(await patch({ name: ' Ada L. ' })).toMatchObject({ status: 200, body: { name: 'Ada L.' } });
    expect(await patch({ name: '' })).toMatchObject(invalid('name'));
    expect(await patch({ password: 'another one' })).toMatchObject(invalid('current_password'));
    expect(await patch({ ...change, password: 'short' })).toMatchObject(invalid('password'));
    expect(await patch({ ...change, password: 'Password123' })).toMatchObject(invalid('password'));
    const wrong = await patch({ ...change, current_password: 'wrong' });
    expect(wrong).toMatchObject({ status: 403, body: { code: 'wrong_password' } });
    const session = await login();
    const { body: minted } = await mint({});
    expect((await patch(change, session.token)).status).toBe(200);
    expect((await service.get('/v1/auth/me', session.token)).status).toBe(200);
    expect((await service.get('/v1/auth/me', admin.token)).status).toBe(401);
    admin = { ...admin, token: session.token };
    expect(await chats(session.api_key)).toBe(401);
    expect(await chats(minted.key)).toBe(503);
    expect((await patch({ password, current_password: 'another one', revoke_keys: true })).status).toBe(200);
    expect(await chats(minted.key)).toBe(401);
  });

  it('resets a forgotten password by mail, once, and ends everything that was open', async () => {
    const forgot = (email: string) => service.post('/v1/auth/password/forgot', undefined, { email });
    for (const email of ['ADA@example.com', 'nobody@example.com', 'no e-mail']) {
      expect(await forgot(email)).toMatchObject({ status: 200, body: { accepted: true } });
    }
    const token = await mailedToken(service, ada, 'tnr');
    const reset = (json: object) =>
      service.post('/v1/auth/password/reset', undefined, { password: 'a third one', ...json });
    const session = await login();
    expect(await reset({ token: 'x' })).toMatchObject({ status: 404, body: { code: 'token_not_found' } });
    for (const bad of ['short', 'qwertyuiop']) {
      expect(await reset({ token, password: bad })).toMatchObject({
        status: 422,
        body: { details: [{ path: 'password' }] },
      });
    }
    expect(await reset({ token })).toMatchObject({ status: 200, body: { email: ada } });
    expect(await reset({ token })).toMatchObject({ status: 410, body: { code: 'token_used' } });
    expect((await service.get('/v1/auth/me', session.token)).status).toBe(401);
    expect((await login()).code).toBe('invalid_credentials');
    expect((await login('a third one')).user.email).toBe(ada);
    await forgot(ada);
    const late = await mailedToken(service, ada, 'tnr', 1);
    await query(service.databaseUrl as string, `UPDATE mailed_tokens SET expires_at = now() WHERE purpose = 'reset'`);
    expect(await reset({ token: late })).toMatchObject({ status: 410, body: { code: 'token_expired' } });
  });

  it('refuses common passwords where the setting asks for it', async () => {
    const json = { name: 'Bob', email: 'bob@example.com', password: 'Iloveyou1' };
    const { status, body } = await service.post('/v1/auth/register', undefined, json);
    expect({ status, path: body.details?.[0].path }).toEqual({ status: 422, path: 'password' });
  });

  it('sends at most five of such mails to an account in an hour', async () => {
    const forgot = () => service.post('/v1/auth/password/forgot', undefined, { email: 'mia@example.com' });
    for (const { status } of await Promise.all(Array.from({ length: 12 }, forgot))) expect(status).toBe(200);
    const sql = `SELECT m.id FROM mailed_tokens m JOIN accounts a ON a.id = m.account_id
                  WHERE m.purpose = 'reset' AND a.email = 'mia@example.com'`;
    expect(await query(service.databaseUrl as string, sql)).toHaveLength(5);
  });

  it('lets no login and no second change with the old password outlive a changed one', async () => {
    const old = 'a third one';
    const [first, second] = [await login(old), await login(old)];
    const change = (by: { token: string }, to: string) =>
      service.call('PATCH', '/v1/auth/me', { token: by.token, json: { password: to, current_password: old } });
    const racing = [
      change(first, 'the first new'),
      change(second, 'the second new'),
      login(old),
      login(old),
      login(old),
    ];
    const [one, two, ...logins] = await Promise.all(racing);
    const won = [one, two].filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect([one, two].find(({ status }) => status !== 200)).toBeDefined();
    for (const { token } of logins) {
      if (token) expect((await service.get('/v1/auth/me', token)).status).toBe(401);
    }
    expect(await login(old)).toMatchObject({ code: 'invalid_credentials' });
  });

  it('makes links from its own address alone', async () => {
    const headers = {
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Proto': 'https',
      Origin: 'https://evil.example',
    };
    await service.call('POST', '/v1/auth/password/forgot', { json: { email: 'mia@example.com' }, headers });
    await mailedToken(service, 'mia@example.com', 'tnr');
    const all = (await mails(service)).join();
    expect(all).toContain(`${service.url}/reset-password?token=`);
    expect(all).not.toContain('evil.example');
  });
});
