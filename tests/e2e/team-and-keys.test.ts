import { query } from '../support/database.js';
import { mailedToken, mails } from '../support/mailbox.js';
import { Service } from '../support/service.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  moveToOwnTeam,
  password,
  register,
} from '../support/workspace.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ env: { SERVICE_PASSWORD_BLOCKLIST: 'true', SERVICE_MAX_ACCOUNTS: '40' } });
});
afterAll(() => service.stop());
const database = () => service.databaseUrl as string;

describe('keys, sessions and passwords', () => {
  let admin: Member;
  let other: Member;

  beforeAll(async () => {
    admin = await register(service, 'Ada');
    other = await register(service, 'Mia');
  });

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
    const rows = await query(database(), 'SELECT id FROM outbox');
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
    await query(database(), 'UPDATE credentials SET expires_at = now() WHERE id = $1', [body.id]);
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
    await query(database(), `UPDATE mailed_tokens SET expires_at = now() WHERE purpose = 'reset'`);
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
    expect(await query(database(), sql)).toHaveLength(5);
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

describe('a team', () => {
  let admin: Member;
  let member: Member;
  let stranger: Member;

  beforeAll(async () => {
    await query(database(), 'TRUNCATE accounts, teams, invites, credentials, mailed_tokens, outbox CASCADE');
    admin = await register(service, 'Ada');
    member = await register(service, 'Mia');
    stranger = await register(service, 'Eve');
    await moveToOwnTeam(database(), stranger.id);
  });

  const invite = async (json: object = {}, by = admin) => (await service.post('/v1/auth/invites', by.token, json)).body;
  const redeem = (token: string, email: string, field = 'invite_token') =>
    service.post('/v1/auth/register', undefined, { name: 'New', email, password, [field]: token });
  const lookup = (token: string) => service.get(`/v1/auth/invites/lookup/${token}`);
  const revoke = (id: string) => service.delete(`/v1/auth/invites/${id}`, admin.token);

  it('lists its own accounts, to each of them', async () => {
    for (const { token } of [admin, member]) {
      const { status, body } = await service.get('/v1/auth/users', token);
      expect(status).toBe(200);
      expect(body.count).toBe(2);
      expect(body.users.map(({ name, role }: { name: string; role: string }) => [name, role])).toEqual([
        ['Ada', 'admin'],
        ['Mia', 'member'],
      ]);
      expect(Object.keys(body.users[0]).sort()).toEqual([
        'created_at',
        'email',
        'email_verified',
        'id',
        'name',
        'role',
      ]);
    }
    expect((await service.get('/v1/auth/users', stranger.token)).body.count).toBe(1);
  });

  it('tells anyone how many accounts there are', async () => {
    const { status, body } = await service.get('/v1/auth/status');
    const expected = { account_count: 3, max_accounts: 40, registration_open: true };
    expect({ status, body }).toEqual({ status: 200, body: expected });
  });

  it('invites by link: anyone, once, with the role of the invite, into the team of the inviter', async () => {
    const created = await service.post('/v1/auth/invites', admin.token, { role: 'developer' });
    expect(created.status).toBe(201);
    const { id, token, created_at } = created.body;
    expect(created.body).toEqual({
      id: expect.stringMatching(/^inv_/),
      email: null,
      invited_by: admin.id,
      token: expect.stringMatching(/^tni_/),
      role: 'developer',
      created_at: expect.any(Number),
      expires_at: expect.closeTo(created_at + 14 * 24 * 3600, 3),
    });
    expect((await lookup(token)).body).toEqual({ ...created.body, invited_by_name: 'Ada' });
    expect((await service.get('/v1/auth/invites', admin.token)).body).toEqual({ invites: [created.body], count: 1 });
    const seenByMember = (await service.get('/v1/auth/invites', member.token)).body.invites;
    expect(seenByMember).toEqual([{ ...created.body, token: null }]);
    expect((await service.get('/v1/auth/invites', stranger.token)).body.count).toBe(0);

    const redeemed = await redeem(token, 'dev@example.com', 'invite');
    expect(redeemed).toMatchObject({ status: 201, body: { user: { role: 'developer' } } });
    for (const answer of [await redeem(token, 'late@example.com'), await lookup(token), await revoke(id)]) {
      expect(answer).toMatchObject({ status: 410, body: { code: 'invite_redeemed' } });
    }
    expect((await service.get('/v1/auth/invites', admin.token)).body.count).toBe(0);
  });

  it('brings an invited account into a team that is not the operator’s', async () => {
    const { token } = await invite({ role: 'member' }, stranger);
    expect((await redeem(token, 'friend@example.com')).status).toBe(201);
    expect((await service.get('/v1/auth/users', stranger.token)).body.count).toBe(2);
  });

  it('keeps an invite for the e-mail that it names, and does not use it up on a failure', async () => {
    const { token } = await invite({ email: ' Grace@Example.com ' });
    const mismatch = await redeem(token, 'other@example.com');
    expect(mismatch).toMatchObject({ status: 403, body: { code: 'invite_email_mismatch' } });
    expect((await lookup(token)).body.email).toBe('Grace@Example.com');
    const bad = { name: '', email: 'grace@example.com', password, invite_token: token };
    expect((await service.post('/v1/auth/register', undefined, bad)).status).toBe(422);
    expect((await redeem(token, 'GRACE@example.com')).status).toBe(201);
  });

  it('revokes and expires invites', async () => {
    const revoked = await invite();
    expect(await revoke(revoked.id)).toMatchObject({ status: 200, body: { id: revoked.id, deleted: true } });
    expect(await revoke(revoked.id)).toMatchObject({ status: 410, body: { code: 'invite_revoked' } });
    const expired = await invite({ expires_in: 3600 });
    await query(database(), 'UPDATE invites SET expires_at = now() WHERE id = $1', [expired.id]);
    expect(await revoke(expired.id)).toMatchObject({ status: 410, body: { code: 'invite_expired' } });
    for (const [{ token }, code] of [
      [revoked, 'invite_revoked'],
      [expired, 'invite_expired'],
    ] as const) {
      expect(await lookup(token)).toMatchObject({ status: 410, body: { code } });
      expect(await redeem(token, 'nobody@example.com')).toMatchObject({ status: 410, body: { code } });
    }
    expect((await service.get('/v1/auth/invites', admin.token)).body.count).toBe(0);
  });

  it('knows no other invite', async () => {
    const missing = { status: 404, body: { code: 'invite_not_found' } };
    const theirs = await invite({}, stranger);
    for (const id of [theirs.id, 'inv_nothing', theirs.id.replace(/.$/, 'x')])
      expect(await revoke(id)).toMatchObject(missing);
    for (const token of ['x', `tni_${'a'.repeat(49)}`, '%00', admin.token])
      expect(await lookup(token)).toMatchObject(missing);
    for (const token of ['', 'x', admin.token]) expect(await redeem(token, 'no@example.com')).toMatchObject(missing);
  });

  it.each([
    ['email', { email: 'nobody' }],
    ['role', { role: 'owner' }],
    ['role', { role: 7 }],
    ['expires_in', { expires_in: 0 }],
    ['expires_in', { expires_in: 1e9 }],
  ])('refuses an invite with a bad %s (%#)', async (path, json) => {
    const { status, body } = await service.post('/v1/auth/invites', admin.token, json);
    expect({ status, path: body.details?.[0].path }).toEqual({ status: 422, path });
  });

  it('gives nothing away in a dump of its invites', async () => {
    const { token } = await invite();
    const dump = JSON.stringify(await query(database(), 'SELECT * FROM invites'));
    expect(dump).not.toContain(token.slice(4, 30));
  });

  it('changes roles, on the very next call, and keeps an admin', async () => {
    const role = (id: string, to: unknown, by = admin) =>
      service.call('PATCH', `/v1/auth/users/${id}/role`, { token: by.token, json: { role: to } });
    const invites = async () => (await service.post('/v1/auth/invites', member.token, {})).status;
    expect(await role(admin.id, 'member')).toMatchObject({ status: 409, body: { code: 'last_admin' } });
    expect(await role(admin.id, 'admin')).toMatchObject({ status: 200, body: { role: 'admin' } });
    expect(await role(stranger.id, 'admin')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await role(member.id, 'owner')).toMatchObject({ status: 422, body: { details: [{ path: 'role' }] } });
    expect(await invites()).toBe(403);
    expect(await role(member.id, 'admin')).toMatchObject({ status: 200, body: { id: member.id, role: 'admin' } });
    expect(await invites()).toBe(201);
    expect(await role(member.id, 'member', member)).toMatchObject({ status: 200 });
    expect(await invites()).toBe(403);
  });

  it('removes an account with all its credentials, and frees its place', async () => {
    const leaver = await register(service, 'Leo');
    const count = async () => (await service.get('/v1/auth/status')).body.account_count;
    const before = await count();
    const remove = (id: string) => service.delete(`/v1/auth/users/${id}`, admin.token);
    expect(await remove(leaver.id)).toMatchObject({ status: 200, body: { id: leaver.id, deleted: true } });
    expect((await service.get('/v1/auth/me', leaver.token)).status).toBe(401);
    expect(await count()).toBe(before - 1);
    for (const id of [leaver.id, stranger.id]) expect((await remove(id)).status).toBe(404);
    expect(await remove(admin.id)).toMatchObject({ status: 409, body: { code: 'last_admin' } });
    expect((await register(service, 'Leo')).id).not.toBe(leaver.id);
  });

  it('ends the pending invites of an admin who is removed or demoted', async () => {
    const second = await register(service, 'Sue');
    const role = (to: string) =>
      service.call('PATCH', `/v1/auth/users/${second.id}/role`, { token: admin.token, json: { role: to } });
    for (const leave of [() => role('member'), () => service.delete(`/v1/auth/users/${second.id}`, admin.token)]) {
      await role('admin');
      const { token } = await invite({ role: 'admin' }, second);
      expect((await leave()).status).toBe(200);
      expect(await redeem(token, 'sue2@example.com')).toMatchObject({ status: 410, body: { code: 'invite_revoked' } });
    }
  });
});
