import { PasswordHasher } from '../../src/application/accounts/ports.js';
import { HashingBusy } from '../../src/domain/accounts/errors.js';
import { atOnce } from '../support/barrier.js';
import type { Answer } from '../support/http-caller.js';
import { ask, completions, createProject, type Member, password, register } from '../support/workspace.js';
import { mailsTo, receivesMail, tokenMailedTo } from './support/mailbox.js';
import { invalid, refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const HOUR_MS = 60 * 60 * 1000;
const ada = 'ada@example.com';

describe('registration and login', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ adapt: receivesMail });
    await register(app, 'Ada');
  });
  afterAll(() => app.stop());

  const account = (over: object) => ({ name: 'Bob', email: 'bob@example.com', password, ...over });
  const registerWith = (over: object, at = app, token?: string) =>
    at.post('/v1/auth/register', token, account(over)) as Promise<Answer>;
  const login = (email: string, text = password) => app.post('/v1/auth/login', undefined, { email, password: text });
  const verify = (token: unknown) => app.post('/v1/auth/verify-email', undefined, { token });

  it('ignores fields that a caller may not set, and answers with a session and a key', async () => {
    const own = { name: ' Cy ', email: ' Cy@Example.com ', role: 'admin', id: 'usr_1', team_id: 'x' };
    const fresh = await TestApp.start();
    await register(fresh, 'Ada');
    const { status, body } = await registerWith(own, fresh);
    const id = expect.stringMatching(/^usr_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/);
    const now = fresh.clock.now().getTime() / 1000;
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        user: { id, name: 'Cy', email: 'Cy@Example.com', role: 'member', email_verified: false, created_at: now },
        token: expect.stringMatching(/^tns_[0-9A-Za-z]{49}$/),
        api_key: expect.stringMatching(/^tnk_[0-9A-Za-z]{49}$/),
      },
    });
    await fresh.stop();
  });

  it.each([
    ['name', { name: '' }],
    ['name', { name: 'a'.repeat(101) }],
    ['name', { name: 'two\nlines' }],
    ['email', { email: 'a@b@c' }],
    ['email', { email: '@example.com' }],
    ['email', { email: 'a b@example.com' }],
    ['email', { email: 'a@example.com\r\nBcc: eve@example.com' }],
    ['email', { email: '<a@example.com>' }],
    ['email', { email: `${'a'.repeat(243)}@example.com` }],
    ['password', { password: '1234567' }],
    ['password', { password: 'a'.repeat(129) }],
    ['password', { password: '\u{1F600}'.repeat(7) }],
  ])('refuses a bad %s and stores nothing (%#)', async (field, over) => {
    const before = await app.store.accounts.count();
    expect(await registerWith(over)).toMatchObject(invalid(field));
    expect(await app.store.accounts.count()).toBe(before);
  });

  it('names every bad field at once', async () => {
    const bad = { name: '', email: 'x', password: 'short' };
    expect(await registerWith(bad)).toMatchObject(invalid('name', 'email', 'password'));
  });

  it('refuses a taken e-mail in any spelling, and accepts any spelling at a login', async () => {
    for (const email of [ada, ' ADA@EXAMPLE.COM ', 'Ada@Example.com', '\uFF41da@example.com']) {
      expect(await registerWith({ email })).toMatchObject(refusal(409, 'email_taken'));
      expect(await login(email)).toMatchObject({ status: 200, body: { user: { email: ada } } });
    }
  });

  it('gives the same answer to an unknown e-mail and to a wrong password', async () => {
    const answers = await Promise.all(
      ['nobody@example.com', ada, 'no e-mail at all'].map((email) => login(email, 'wrong password')),
    );
    const [first, ...others] = answers.map(({ status, body: { request_id: _, ...body } }) => ({ status, body }));
    expect(first).toMatchObject(refusal(401, 'invalid_credentials'));
    for (const other of others) expect(other).toEqual(first);
  });

  it('accepts an address in any script, and recognizes each Unicode form of it', async () => {
    const composed = 'zo\u00e9@example.com';
    expect((await registerWith({ email: 'zoe\u0301@example.com' })).status).toBe(201);
    expect(await registerWith({ email: composed })).toMatchObject(refusal(409, 'email_taken'));
    expect((await login(composed)).status).toBe(200);
  });

  it('makes later accounts members of the same team, up to the limit of accounts', async () => {
    const { body } = await registerWith({});
    expect(body.user.role).toBe('member');
    expect((await app.get('/v1/auth/users', body.token)).body.count).toBe(3);
    const status = { account_count: 3, max_accounts: 3, registration_open: false };
    expect((await app.get('/v1/auth/status')).body).toEqual(status);
    const refused = await registerWith({ email: 'more@example.com' });
    expect(refused).toMatchObject(refusal(403, 'registration_closed'));
    expect(refused.body.error).toContain('3 accounts');
  });

  it('verifies an e-mail only with the mailed token, and only within 24 hours', async () => {
    const session = (await login(ada)).body.token;
    for (const token of ['', 'x', `tnv_${'a'.repeat(49)}`, session])
      expect(await verify(token)).toMatchObject(refusal(404, 'token_not_found'));
    expect(await verify(undefined)).toMatchObject(refusal(422, 'invalid_request'));
    const token = await tokenMailedTo(app, ada, 'tnv');
    app.clock.advance(24 * HOUR_MS);
    expect(await verify(token)).toMatchObject(refusal(410, 'token_expired'));
    await app.post('/v1/auth/verify-email/resend', session);
    const second = await tokenMailedTo(app, ada, 'tnv');
    expect(await verify(second)).toMatchObject({ status: 200, body: { email: ada, email_verified: true } });
    expect(await verify(second)).toMatchObject(refusal(410, 'token_used'));
  });

  it('removes links from the name in a mail to an unverified address, and shortens the name', async () => {
    const fresh = await TestApp.start({ adapt: receivesMail });
    await registerWith({ name: `Win $900 at http://evil.example or www.evil.example, now! ${'x'.repeat(40)}` }, fresh);
    const [greeting] = (await mailsTo(fresh, 'bob@example.com')).join('').split('\n');
    expect(greeting).toBe('Hello Win $900 at or now! xxxxxxxxxxxxxxxxxxxx,');
    await fresh.stop();
  });

  it('refuses a site login if no site is set up', async () => {
    const answer = await app.post('/v1/auth/site-login', undefined, { token: 'a token' });
    expect(answer).toMatchObject(refusal(403, 'site_login_disabled'));
  });

  it('refuses a registration without an invite if so set, except for a first account by the master key', async () => {
    const key = 'master-key-of-the-tests';
    const closed = await TestApp.start({ env: { SERVICE_REGISTRATION: 'invite', SERVICE_MASTER_KEY: key } });
    const refused = refusal(403, 'registration_closed');
    expect(await registerWith({}, closed)).toMatchObject(refused);
    const first = await registerWith({}, closed, key);
    expect(first).toMatchObject({ status: 201, body: { user: { role: 'admin' } } });
    const more = { email: 'x@example.com' };
    for (const token of [key, undefined]) expect(await registerWith(more, closed, token)).toMatchObject(refused);
    expect((await closed.get('/v1/auth/status')).body.registration_open).toBe(false);
    const { token } = (await closed.post('/v1/auth/invites', first.body.token, {})).body;
    const invited = await registerWith({ ...more, invite_token: token }, closed);
    expect(invited).toMatchObject({ status: 201, body: { user: { role: 'member' } } });
    await closed.stop();
  });
});

describe('keys, sessions and passwords', () => {
  let app: TestApp;
  let admin: Member;
  let other: Member;
  beforeAll(async () => {
    app = await TestApp.start({ env: { SERVICE_PASSWORD_BLOCKLIST: 'true' }, adapt: receivesMail });
    admin = await register(app, 'Ada');
    other = await register(app, 'Mia');
  });
  afterAll(() => app.stop());

  const login = async (text = password) =>
    (await app.post('/v1/auth/login', undefined, { email: ada, password: text })).body;
  const resend = () => app.post('/v1/auth/verify-email/resend', admin.token);
  const mint = (json?: unknown) => app.post('/v1/keys', admin.token, json);
  const me = async (token: string) => (await app.get('/v1/auth/me', token)).status;
  const chats = async (key: string) => {
    const project = await createProject(app, admin.token);
    return (await app.post(completions(project), key, ask(project, 'Hi'))).status;
  };
  const keyIds = (body: { keys: { id: string }[] }) => body.keys.map(({ id }) => id);

  it('mints keys only after the e-mail is verified, and sends the mail again on request', async () => {
    const refused = await app.call('POST', '/v1/keys', { token: admin.token, raw: '{' });
    expect(refused).toMatchObject(refusal(403, 'email_unverified'));
    expect(await resend()).toMatchObject({ status: 200, body: { email_verified: false } });
    const token = await tokenMailedTo(app, ada, 'tnv');
    expect((await app.post('/v1/auth/verify-email', undefined, { token })).status).toBe(200);
    expect(await resend()).toMatchObject({ status: 200, body: { email_verified: true } });
    expect(await app.store.mailedTokens.countSince(admin.id, 'verification', new Date(0))).toBe(2);
    const minted = await mint({ name: 'nightly', expires_in: 3600 });
    expect(minted).toMatchObject({ status: 201, body: { name: 'nightly', last_used_at: null } });
    expect(minted.body.key).toMatch(/^tnk_/);
    expect(minted.body.key.endsWith(minted.body.hint.slice(-4))).toBe(true);
    expect(minted.body.expires_at - minted.body.created_at).toBeCloseTo(3600, 0);
    expect((await mint()).status).toBe(201);
    expect(await mint({ name: 'x'.repeat(101), expires_in: 0 })).toMatchObject(invalid('name', 'expires_in'));
  });

  it('lists the caller’s keys in pages, with their last use; a revoked key ends at once', async () => {
    const { body: minted } = await mint({ name: 'mine' });
    expect(await chats(minted.key)).toBe(503);
    const all = (await app.get('/v1/keys', admin.token)).body;
    expect(all).toMatchObject({ next_cursor: null, count: all.keys.length });
    const { key: _, ...listed } = minted;
    expect(all.keys[0]).toEqual({ ...listed, last_used_at: expect.any(Number), expires_at: null });
    const first = (await app.get('/v1/keys?limit=2', admin.token)).body;
    const rest = (await app.get(`/v1/keys?cursor=${first.next_cursor}`, admin.token)).body;
    expect([first.count, ...keyIds(first), ...keyIds(rest)]).toEqual([2, ...keyIds(all)]);
    const revoke = (by: Member) => app.delete(`/v1/keys/${minted.id}`, by.token);
    expect((await revoke(other)).status).toBe(404);
    expect(await revoke(admin)).toMatchObject({ status: 200, body: { id: minted.id, deleted: true } });
    expect(await chats(minted.key)).toBe(401);
    expect((await revoke(admin)).status).toBe(404);
  });

  it('ends a key when it expires', async () => {
    const { body } = await mint({ expires_in: 60 });
    app.clock.advance(60_000);
    expect(await chats(body.key)).toBe(401);
    expect(keyIds((await app.get('/v1/keys', admin.token)).body)).not.toContain(body.id);
  });

  it('lists the caller’s sessions, and ends any of them', async () => {
    const session = await login();
    const { body } = await app.get('/v1/auth/sessions', session.token);
    expect(body.count).toBe(body.sessions.length);
    expect(body.sessions.filter(({ current }: { current: boolean }) => current)).toHaveLength(1);
    const [first] = body.sessions;
    expect(first).toMatchObject({ current: true, last_used_at: expect.any(Number) });
    expect(first.expires_at - first.created_at).toBeCloseTo(30 * 24 * 3600, 0);
    const end = (by: Member) => app.delete(`/v1/auth/sessions/${first.id}`, by.token);
    expect((await end(other)).status).toBe(404);
    expect(await end(admin)).toMatchObject({ status: 200, body: { id: first.id, deleted: true } });
    expect(await me(session.token)).toBe(401);
  });

  it('ends all other sessions of the caller', async () => {
    const [kept, ended] = [await login(), await login()];
    expect((await app.post('/v1/auth/sessions/end-others', kept.token)).body).toMatchObject({
      sessions: [{ current: true }],
      count: 1,
    });
    expect([await me(kept.token), await me(ended.token), await me(admin.token), await me(other.token)]).toEqual([
      200, 401, 401, 200,
    ]);
    admin = { ...admin, token: kept.token };
  });

  it('signs in without a key, and lists where a session was signed in', async () => {
    const headers = { 'User-Agent': `Browser ${'x'.repeat(300)}` };
    const login = (json: object) =>
      app.call('POST', '/v1/auth/login', { json: { email: ada, password, ...json }, headers });
    const keys = async () => (await app.get('/v1/keys', admin.token)).body.count;
    const before = await keys();
    const { body } = await login({ api_key: false });
    expect(body).toMatchObject({ api_key: null, token: expect.stringMatching(/^tns_/) });
    expect(await keys()).toBe(before);
    expect(await login({ api_key: 'no' })).toMatchObject(invalid('api_key'));
    const [session] = (await app.get('/v1/auth/sessions', body.token)).body.sessions;
    expect(session).toMatchObject({ current: true, address: '127.0.0.1' });
    expect(session.user_agent).toBe(headers['User-Agent'].slice(0, 256));
  });

  it('changes the caller’s name and password; a new password ends other sessions and login keys', async () => {
    const patch = (json: object, token = admin.token) => app.call('PATCH', '/v1/auth/me', { token, json });
    const change = { password: 'another one', current_password: password };
    expect(await patch({ name: ' Ada L. ' })).toMatchObject({ status: 200, body: { name: 'Ada L.' } });
    expect(await patch({ name: '' })).toMatchObject(invalid('name'));
    expect(await patch({ password: 'another one' })).toMatchObject(invalid('current_password'));
    expect(await patch({ ...change, password: 'short' })).toMatchObject(invalid('password'));
    expect(await patch({ ...change, password: 'Password123' })).toMatchObject(invalid('password'));
    expect(await patch({ ...change, current_password: 'wrong' })).toMatchObject(refusal(403, 'wrong_password'));
    const session = await login();
    const { body: minted } = await mint({});
    expect((await patch(change, session.token)).status).toBe(200);
    expect([await me(session.token), await me(admin.token)]).toEqual([200, 401]);
    admin = { ...admin, token: session.token };
    expect(await chats(session.api_key)).toBe(401);
    expect(await chats(minted.key)).toBe(503);
    expect((await patch({ password, current_password: 'another one', revoke_keys: true })).status).toBe(200);
    expect(await chats(minted.key)).toBe(401);
  });

  it('resets a forgotten password once with a mailed token, and ends all sessions', async () => {
    const headers = { 'X-Forwarded-Host': 'evil.example', Origin: 'https://evil.example' };
    const forgot = (email: string) => app.call('POST', '/v1/auth/password/forgot', { json: { email }, headers });
    for (const email of ['ADA@example.com', 'nobody@example.com', 'no e-mail'])
      expect(await forgot(email)).toMatchObject({ status: 200, body: { accepted: true } });
    const token = await tokenMailedTo(app, ada, 'tnr');
    expect((await mailsTo(app, ada)).join()).not.toContain('evil.example');
    const reset = (json: object) =>
      app.post('/v1/auth/password/reset', undefined, { password: 'a third one', ...json });
    const session = await login();
    expect(await reset({ token: 'x' })).toMatchObject(refusal(404, 'token_not_found'));
    for (const bad of ['short', 'qwertyuiop'])
      expect(await reset({ token, password: bad })).toMatchObject(invalid('password'));
    expect(await reset({ token })).toMatchObject({ status: 200, body: { email: ada } });
    expect(await reset({ token })).toMatchObject(refusal(410, 'token_used'));
    expect(await me(session.token)).toBe(401);
    expect((await login()).code).toBe('invalid_credentials');
    admin = { ...admin, token: (await login('a third one')).token };
    await forgot(ada);
    const late = await tokenMailedTo(app, ada, 'tnr');
    app.clock.advance(HOUR_MS);
    expect(await reset({ token: late })).toMatchObject(refusal(410, 'token_expired'));
  });

  it('refuses common passwords if the setting says so', async () => {
    const json = { name: 'Bob', email: 'bob@example.com', password: 'Iloveyou1' };
    expect(await app.post('/v1/auth/register', undefined, json)).toMatchObject(invalid('password'));
  });

  it('answers 503 while hashing is busy, on each route that hashes a password', async () => {
    await app.post('/v1/auth/password/forgot', undefined, { email: ada });
    const token = await tokenMailedTo(app, ada, 'tnr');
    const session = (await login('a third one')).token;
    const hasher = app.container.get(PasswordHasher);
    jest.spyOn(hasher, 'hash').mockRejectedValue(new HashingBusy());
    jest.spyOn(hasher, 'matches').mockRejectedValue(new HashingBusy());
    const calls = [
      app.post('/v1/auth/register', undefined, { name: 'Cid', email: 'cid@example.com', password }),
      app.post('/v1/auth/login', undefined, { email: ada, password }),
      app.post('/v1/auth/password/reset', undefined, { token, password }),
      app.call('PATCH', '/v1/auth/me', {
        token: session,
        json: { password: 'another', current_password: 'a third one' },
      }),
    ];
    for (const answer of await Promise.all(calls)) {
      expect(answer).toMatchObject(refusal(503, 'busy'));
      expect(answer.headers.get('retry-after')).toBe('2');
    }
    jest.restoreAllMocks();
  });

  it('lets an account mint at most a hundred keys, and answers 120 calls at once', async () => {
    await app.verifyEmails();
    const mint = () => app.post('/v1/keys', other.token);
    const attempts = jest.spyOn(app.store.credentials, 'list');
    const answers = await atOnce(120, mint);
    expect(attempts).toHaveBeenCalledTimes(120); // none lost against another one
    attempts.mockRestore();
    const [minted, refused] = [201, 422].map((status) => answers.filter((answer) => answer.status === status));
    expect([minted?.length, refused?.length]).toEqual([100, 20]);
    await app.delete(`/v1/keys/${minted?.[0]?.body.id}`, other.token);
    expect((await mint()).status).toBe(201);
    expect(await mint()).toMatchObject(refusal(422, 'invalid_request'));
  });

  it('sends at most five mails for a password reset to an account in an hour', async () => {
    const forgot = () => app.post('/v1/auth/password/forgot', undefined, { email: 'mia@example.com' });
    for (const { status } of await Promise.all(Array.from({ length: 12 }, forgot))) expect(status).toBe(200);
    expect(await app.store.mailedTokens.countSince(other.id, 'reset', new Date(0))).toBe(5);
  });
});
