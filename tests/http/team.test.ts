import type { RequestHandler } from 'express';
import { injectable } from 'inversify';
import { Logger } from '../../src/application/shared/ports.js';
import { Middleware } from '../../src/interfaces/http/app.js';
import { copyRow } from '../support/database.js';
import { type Member, password, register } from '../support/workspace.js';
import { invalid, notFound, refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

describe('a team', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  beforeAll(async () => {
    ({ app, admin, member, stranger } = await TestApp.withTeam({ env: { SERVICE_MAX_ACCOUNTS: '40' } }));
  });
  afterAll(() => app.stop());

  const invite = async (json: object = {}, by = admin) => (await app.post('/v1/auth/invites', by.token, json)).body;
  const redeem = (token: string, email: string, field = 'invite_token') =>
    app.post('/v1/auth/register', undefined, { name: 'New', email, password, [field]: token });
  const lookup = (token: string) => app.get(`/v1/auth/invites/lookup/${token}`);
  const revoke = (id: string) => app.delete(`/v1/auth/invites/${id}`, admin.token);

  it('lists its accounts, and no others, to each of them', async () => {
    const users = [
      { name: 'Ada', role: 'admin' },
      { name: 'Dan', role: 'developer' },
      { name: 'Mia', role: 'member' },
    ];
    for (const { token } of [admin, member])
      expect(await app.get('/v1/auth/users', token)).toMatchObject({ status: 200, body: { users, count: 3 } });
    expect((await app.get('/v1/auth/users', stranger.token)).body.count).toBe(1);
  });

  it('tells anyone how many accounts there are', async () => {
    const { status, body } = await app.get('/v1/auth/status');
    const expected = { account_count: 4, max_accounts: 40, registration_open: true };
    expect({ status, body }).toEqual({ status: 200, body: expected });
  });

  it('creates an invite that joins one account to the team of the inviter, with the role of the invite', async () => {
    const created = await app.post('/v1/auth/invites', admin.token, { role: 'developer' });
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
    expect((await app.get('/v1/auth/invites', admin.token)).body).toEqual({ invites: [created.body], count: 1 });
    const seenByMember = (await app.get('/v1/auth/invites', member.token)).body.invites;
    expect(seenByMember).toEqual([{ ...created.body, token: null }]);
    expect((await app.get('/v1/auth/invites', stranger.token)).body.count).toBe(0);

    const redeemed = await redeem(token, 'dev@example.com', 'invite');
    expect(redeemed).toMatchObject({ status: 201, body: { user: { role: 'developer' } } });
    for (const answer of [await redeem(token, 'late@example.com'), await lookup(token), await revoke(id)]) {
      expect(answer).toMatchObject(refusal(410, 'invite_redeemed'));
    }
    expect((await app.get('/v1/auth/invites', admin.token)).body.count).toBe(0);
  });

  it('accepts an invited account also in a team that is not the operator team', async () => {
    const { token } = await invite({ role: 'member' }, stranger);
    expect((await redeem(token, 'friend@example.com')).status).toBe(201);
    expect((await app.get('/v1/auth/users', stranger.token)).body.count).toBe(2);
  });

  it('accepts an invite only for the e-mail that it names; the invite stays valid after a failure', async () => {
    const { token } = await invite({ email: ' Grace@Example.com ' });
    const mismatch = await redeem(token, 'other@example.com');
    expect(mismatch).toMatchObject(refusal(403, 'invite_email_mismatch'));
    expect((await lookup(token)).body.email).toBe('Grace@Example.com');
    const bad = { name: '', email: 'grace@example.com', password, invite_token: token };
    expect((await app.post('/v1/auth/register', undefined, bad)).status).toBe(422);
    expect((await redeem(token, 'GRACE@example.com')).status).toBe(201);
  });

  it('revokes and expires invites', async () => {
    const revoked = await invite();
    expect(await revoke(revoked.id)).toMatchObject({ status: 200, body: { id: revoked.id, deleted: true } });
    expect(await revoke(revoked.id)).toMatchObject(refusal(410, 'invite_revoked'));
    const expired = await invite({ expires_in: 3600 });
    app.clock.advance(3_600_000);
    expect(await revoke(expired.id)).toMatchObject(refusal(410, 'invite_expired'));
    for (const [{ token }, code] of [
      [revoked, 'invite_revoked'],
      [expired, 'invite_expired'],
    ] as const) {
      expect(await lookup(token)).toMatchObject(refusal(410, code));
      expect(await redeem(token, 'nobody@example.com')).toMatchObject(refusal(410, code));
    }
    expect((await app.get('/v1/auth/invites', admin.token)).body.count).toBe(0);
  });

  it('answers 404 to unknown invites and to those of other teams', async () => {
    const missing = refusal(404, 'invite_not_found');
    const theirs = await invite({}, stranger);
    for (const id of [theirs.id, 'inv_nothing', theirs.id.replace(/.$/, 'x')])
      expect(await revoke(id)).toMatchObject(missing);
    for (const token of ['x', `tni_${'a'.repeat(49)}`, '%00', admin.token])
      expect(await lookup(token)).toMatchObject(missing);
    for (const token of ['', 'x', admin.token]) expect(await redeem(token, 'no@example.com')).toMatchObject(missing);
  });

  it('refuses an invite with a bad e-mail, role or lifetime', async () => {
    const inviting = (json: object) => app.post('/v1/auth/invites', admin.token, json);
    expect(await inviting({ role: 'owner', expires_in: 0 })).toMatchObject(invalid('role', 'expires_in'));
    expect(await inviting({ email: 'nobody' })).toMatchObject(invalid('email'));
  });

  it('applies a changed role from the next call on, and keeps at least one admin', async () => {
    const role = (id: string, to: unknown, by = admin) =>
      app.call('PATCH', `/v1/auth/users/${id}/role`, { token: by.token, json: { role: to } });
    const invites = async () => (await app.post('/v1/auth/invites', member.token, {})).status;
    expect(await role(admin.id, 'member')).toMatchObject(refusal(409, 'last_admin'));
    expect(await role(admin.id, 'admin')).toMatchObject({ status: 200, body: { role: 'admin' } });
    expect(await role(stranger.id, 'admin')).toMatchObject(notFound);
    expect(await role(member.id, 'owner')).toMatchObject(invalid('role'));
    expect(await invites()).toBe(403);
    expect(await role(member.id, 'admin')).toMatchObject({ status: 200, body: { id: member.id, role: 'admin' } });
    expect(await invites()).toBe(201);
    expect(await role(member.id, 'member', member)).toMatchObject({ status: 200 });
    expect(await invites()).toBe(403);
  });

  it('removes an account with all its credentials, and no longer counts it', async () => {
    const leaver = await register(app, 'Leo');
    const count = async () => (await app.get('/v1/auth/status')).body.account_count;
    const before = await count();
    const remove = (id: string) => app.delete(`/v1/auth/users/${id}`, admin.token);
    expect(await remove(leaver.id)).toMatchObject({ status: 200, body: { id: leaver.id, deleted: true } });
    expect((await app.get('/v1/auth/me', leaver.token)).status).toBe(401);
    expect(await count()).toBe(before - 1);
    for (const id of [leaver.id, stranger.id]) expect((await remove(id)).status).toBe(404);
    expect(await remove(admin.id)).toMatchObject(refusal(409, 'last_admin'));
    expect((await register(app, 'Leo')).id).not.toBe(leaver.id);
  });

  it('has at most 1,000 pending invites', async () => {
    const { id } = await invite({}, stranger);
    const { count } = (await app.get('/v1/auth/invites', stranger.token)).body;
    await copyRow(app.database.url, 'invites', id, 999 - count, ['digest']);
    expect((await app.post('/v1/auth/invites', stranger.token, {})).status).toBe(201);
    expect(await app.post('/v1/auth/invites', stranger.token, {})).toMatchObject(invalid(''));
    expect((await app.post('/v1/auth/invites', admin.token, {})).status).toBe(201);
  });

  it('ends the pending invites of an admin who is removed or demoted', async () => {
    const second = await register(app, 'Sue');
    const role = (to: string) =>
      app.call('PATCH', `/v1/auth/users/${second.id}/role`, { token: admin.token, json: { role: to } });
    for (const leave of [() => role('member'), () => app.delete(`/v1/auth/users/${second.id}`, admin.token)]) {
      await role('admin');
      const { token } = await invite({ role: 'admin' }, second);
      expect((await leave()).status).toBe(200);
      expect(await redeem(token, 'sue2@example.com')).toMatchObject(refusal(410, 'invite_revoked'));
    }
  });
});

/** Refuses every change. */
@injectable()
class ReadOnlyMode extends Middleware {
  constructor(private readonly logger: Logger) {
    super();
  }

  readonly handle: RequestHandler = (request, response, next) => {
    response.setHeader('X-Mode', 'read-only');
    if (['GET', 'HEAD'].includes(request.method)) return next();
    this.logger.info('refused in read-only mode', { path: request.context.path });
    response.status(503).json({ message: 'This service can be read, but not changed.' });
  };
}

describe('the middleware of a team', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ adapt: (container) => container.bind(Middleware).to(ReadOnlyMode) });
  });
  afterAll(() => app.stop());

  it('runs in every request, and the answer has a request id', async () => {
    for (const path of ['/v1/auth/status', '/auth', '/nothing']) {
      const { headers } = await app.get(path);
      expect(headers.get('x-mode')).toBe('read-only');
      expect(headers.get('x-request-id')).toMatch(/^req_/);
    }
  });

  it('may answer a request, and its log lines have the request id', async () => {
    const response = await fetch(`${app.url}/v1/auth/login`, { method: 'POST' });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ message: 'This service can be read, but not changed.' });
    const line = app.logger.lines.find(({ event }) => event === 'refused in read-only mode');
    expect(line?.fields).toEqual({ path: '/v1/auth/login', request_id: response.headers.get('x-request-id') });
  });
});
