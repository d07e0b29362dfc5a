import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { register } from '../support/workspace.js';
import { receivesMail, tokenMailedTo } from './support/mailbox.js';
import { TestApp } from './support/test-app.js';

const env = {
  SERVICE_SITE_LOGIN_SECRET: 'the-shared-secret-of-site-and-service',
  SERVICE_SITE_LOGIN_ISSUER: 'https://site.example',
  SERVICE_SITE_LOGIN_AUDIENCE: 'tenon',
  SERVICE_MAX_ACCOUNTS: '8',
};

/** A token of the site, good for five minutes unless told otherwise. */
function signed(
  claims: object,
  { exp = 300, iss = env.SERVICE_SITE_LOGIN_ISSUER }: { exp?: number | null; iss?: string } = {},
) {
  const token = new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256' }).setJti(randomUUID());
  token.setIssuer(iss).setAudience('tenon');
  if (exp !== null) token.setExpirationTime(Math.floor(Date.now() / 1000) + exp);
  return token.sign(new TextEncoder().encode(env.SERVICE_SITE_LOGIN_SECRET));
}

describe('site login', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ env });
    await register(app, 'Ada');
  });
  afterAll(() => app.stop());

  const enter = (token: string, at = app) => at.post('/v1/auth/site-login', undefined, { token });
  const teamSize = async (token: string) => (await app.get('/v1/auth/users', token)).body.count;

  it('gives each team of the site a team, its first account being admin', async () => {
    const ann = { email: 'ann@site.example', email_verified: true, name: 'Ann', team: 'red' };
    const first = await enter(await signed(ann));
    expect(first).toMatchObject({
      status: 200,
      body: {
        user: { name: 'Ann', role: 'admin', email_verified: true },
        token: expect.stringMatching(/^tns_/),
        api_key: expect.stringMatching(/^tnk_/),
      },
    });
    const second = await enter(await signed({ email: 'ben@site.example', team: 'red' }));
    expect(second.body.user).toMatchObject({ role: 'member', name: 'ben', email_verified: false });
    expect((await enter(await signed({ email: 'cat@site.example', team: 'blue' }))).body.user.role).toBe('admin');
    const alone = await enter(await signed({ email: 'dan@site.example' }));
    expect(alone.body.user.role).toBe('admin');
    expect(await teamSize(first.body.token)).toBe(2);
    expect(await teamSize(alone.body.token)).toBe(1);
    const again = await enter(await signed({ email: 'ANN@site.example', team: 'blue' }));
    expect(again.body.user).toMatchObject({ id: first.body.user.id, role: 'admin' });
    expect(await teamSize(again.body.token)).toBe(2);
  });

  it('believes a token once, and none that does not hold', async () => {
    const token = await signed({ email: 'ann@site.example' });
    expect((await enter(token)).status).toBe(200);
    const bad = [
      token,
      'nonsense',
      `${await signed({ email: 'x@site.example' })}x`,
      await signed({ email: 'x@site.example' }, { exp: -10 }),
      await signed({ email: 'x@site.example' }, { exp: null }),
      await signed({ email: 'x@site.example' }, { iss: 'https://evil.example' }),
      await signed({ name: 'nobody' }),
    ];
    for (const one of bad) {
      expect(await enter(one)).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    }
  });

  it.each([false, true])(
    'takes over an operator only if that is allowed (%s) and the e-mail verified',
    async (link) => {
      const settings = { ...env, SERVICE_SITE_LOGIN_LINK: String(link) };
      const own = await TestApp.start({ env: settings, adapt: receivesMail });
      await register(own, 'Ada');
      const claims = { email: 'ada@example.com', email_verified: true };
      const taken = { status: 409, body: { code: 'email_taken' } };
      expect(await enter(await signed(claims), own)).toMatchObject(taken);
      const token = await tokenMailedTo(own, 'ada@example.com', 'tnv');
      await own.post('/v1/auth/verify-email', undefined, { token });
      const admin = { status: 200, body: { user: { role: 'admin' } } };
      expect(await enter(await signed(claims), own)).toMatchObject(link ? admin : taken);
      await own.stop();
    },
  );

  it('counts against the cap, and has no password to log in with', async () => {
    for (let n = 0; n < 3; n++) {
      expect((await enter(await signed({ email: `new${n}@site.example` }))).status).toBe(200);
    }
    const late = await enter(await signed({ email: 'late@site.example' }));
    expect(late).toMatchObject({ status: 403, body: { code: 'registration_closed' } });
    expect(await app.store.accounts.count()).toBe(8);
    const login = await app.post('/v1/auth/login', undefined, { email: 'ann@site.example', password: '' });
    expect(login).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
  });
});
