import { site, siteToken } from '../support/site.js';
import { register } from '../support/workspace.js';
import { receivesMail, tokenMailedTo } from './support/mailbox.js';
import { refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const withSite = { ...site, SERVICE_MAX_ACCOUNTS: '8' };

describe('site login', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ env: withSite });
    await register(app, 'Ada');
  });
  afterAll(() => app.stop());

  const enter = (token: string, at = app) => at.post('/v1/auth/site-login', undefined, { token });
  const teamSize = async (token: string) => (await app.get('/v1/auth/users', token)).body.count;

  it('creates a team for each team of the site; its first account is an admin', async () => {
    const ann = { email: 'ann@site.example', email_verified: true, name: 'Ann', team: 'red' };
    const first = await enter(await siteToken(ann));
    expect(first).toMatchObject({
      status: 200,
      body: {
        user: { name: 'Ann', role: 'admin', email_verified: true },
        token: expect.stringMatching(/^tns_/),
        api_key: expect.stringMatching(/^tnk_/),
      },
    });
    const second = await enter(await siteToken({ email: 'ben@site.example', team: 'red' }));
    expect(second.body.user).toMatchObject({ role: 'member', name: 'ben', email_verified: false });
    expect((await enter(await siteToken({ email: 'cat@site.example', team: 'blue' }))).body.user.role).toBe('admin');
    const alone = await enter(await siteToken({ email: 'dan@site.example' }));
    expect(alone.body.user.role).toBe('admin');
    expect(await teamSize(first.body.token)).toBe(2);
    expect(await teamSize(alone.body.token)).toBe(1);
    const unsure = await enter(await siteToken({ email: 'ann@site.example', email_verified: false }));
    expect(unsure).toMatchObject(refusal(409, 'email_taken'));
    const again = await enter(await siteToken({ email: 'ANN@site.example', team: 'blue' }));
    expect(again.body.user).toMatchObject({ id: first.body.user.id, role: 'admin' });
    expect(await teamSize(again.body.token)).toBe(2);
  });

  it('accepts a token once, and no invalid token', async () => {
    const token = await siteToken({ email: 'ann@site.example' });
    expect((await enter(token)).status).toBe(200);
    const bad = [
      token,
      'nonsense',
      `${await siteToken({ email: 'x@site.example' })}x`,
      await siteToken({ email: 'x@site.example' }, { exp: -10 }),
      await siteToken({ email: 'x@site.example' }, { exp: null }),
      await siteToken({ email: 'x@site.example' }, { iss: 'https://evil.example' }),
      await siteToken({ name: 'nobody' }),
    ];
    for (const one of bad) {
      expect(await enter(one)).toMatchObject(refusal(401, 'invalid_credentials'));
    }
  });

  it.each([false, true])(
    'logs in to an account of the operator team only if that is allowed (%s) and the e-mail is verified',
    async (link) => {
      const settings = { ...withSite, SERVICE_SITE_LOGIN_LINK: String(link) };
      const own = await TestApp.start({ env: settings, adapt: receivesMail });
      await register(own, 'Ada');
      const claims = { email: 'ada@example.com', email_verified: true };
      const taken = refusal(409, 'email_taken');
      expect(await enter(await siteToken(claims), own)).toMatchObject(taken);
      const token = await tokenMailedTo(own, 'ada@example.com', 'tnv');
      await own.post('/v1/auth/verify-email', undefined, { token });
      const admin = { status: 200, body: { user: { role: 'admin' } } };
      expect(await enter(await siteToken(claims), own)).toMatchObject(link ? admin : taken);
      await own.stop();
    },
  );

  it('counts towards the limit of accounts, and creates accounts without a password', async () => {
    for (let n = 0; n < 3; n++) {
      expect((await enter(await siteToken({ email: `new${n}@site.example` }))).status).toBe(200);
    }
    const late = await enter(await siteToken({ email: 'late@site.example' }));
    expect(late).toMatchObject(refusal(403, 'registration_closed'));
    expect(await app.store.accounts.count()).toBe(8);
    const login = await app.post('/v1/auth/login', undefined, { email: 'ann@site.example', password: '' });
    expect(login).toMatchObject(refusal(401, 'invalid_credentials'));
  });
});
