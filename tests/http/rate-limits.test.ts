import { CredentialRepository, SecretTokens } from '../../src/application/accounts/ports.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';
import { bodyLimits } from '../../src/interfaces/http/body.js';
import { contracts } from '../../src/interfaces/http/controllers.js';
import { rateLimitHeaders, sourceKey, sourceOf } from '../../src/interfaces/http/middleware/rate-limit.js';
import { GracefulShutdown } from '../../src/interfaces/http/server.js';
import type { Answer } from '../support/http-caller.js';
import { type Member, password, register } from '../support/workspace.js';
import { statusAndCode } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const masterKey = 'master-key-of-the-tests';
const LIMITS = { SERVICE_RATE_LIMIT_PER_MIN: '6', SERVICE_RATE_LIMIT_AUTH_PER_MIN: '3', SERVICE_MASTER_KEY: masterKey };
const limited = { status: 429, body: { code: 'rate_limited' } };

const standing = ({ headers }: Answer) => headers.get('ratelimit');
const remaining = ({ headers }: Answer) => Number(headers.get('x-ratelimit-remaining-requests'));
const statuses = (answers: Answer[]) => answers.map(({ status }) => status);

/** Makes the calls one after the other. */
async function times(count: number, call: () => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < count) answers.push(await call());
  return answers;
}

describe('a service that allows 6 calls a minute, 3 of them registrations and logins', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let shutdown: GracefulShutdown;
  let storage: 'up' | 'down' = 'up';
  let onIdentifying = () => {};

  beforeAll(async () => {
    app = await TestApp.start({
      env: LIMITS,
      adapt: (container) => {
        shutdown = container.get(GracefulShutdown);
        const credentials = container.get(CredentialRepository);
        const holder: CredentialRepository['holder'] = async (...details) => {
          onIdentifying();
          if (storage === 'down') throw new StorageUnavailable();
          return credentials.holder(...details);
        };
        container.rebind(CredentialRepository).toConstantValue(Object.assign(Object.create(credentials), { holder }));
      },
    });
    admin = await register(app, 'Ada');
    member = await register(app, 'Mia');
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    storage = 'up';
    app.clock.advance(61_000);
  });

  const me = (token: string) => app.get('/v1/auth/me', token);
  const nothing = () => app.get('/v1/nothing');
  const login = () => app.post('/v1/auth/login', undefined, { email: 'ada@example.com', password });

  it('has a sliding window for each caller', async () => {
    expect(statuses(await times(3, () => me(admin.token)))).toEqual([200, 200, 200]);
    app.clock.advance(30_000);
    expect(statuses(await times(4, () => me(admin.token)))).toEqual([200, 200, 200, 429]);
    expect((await me(member.token)).status).toBe(200);
    expect((await nothing()).status).toBe(404);
    app.clock.advance(29_999);
    expect((await me(admin.token)).status).toBe(429);
    app.clock.advance(1);
    const [last, ...admitted] = (await times(4, () => me(admin.token))).reverse();
    expect(statuses(admitted)).toEqual([200, 200, 200]);
    expect(last?.headers.get('retry-after')).toBe('30');
  });

  it('counts each valid credential separately, and all other calls by the address', async () => {
    for (const token of [admin.token, admin.apiKey, masterKey]) {
      expect(remaining(await me(token))).toBe(5);
      expect(remaining(await me(token))).toBe(4);
    }
    const unknown = [undefined, 'nonsense', `tns_${'a'.repeat(49)}`, `${admin.token}x`, 'other-nonsense'];
    const answers = await Promise.all(unknown.map((token) => app.call('GET', '/v1/auth/me', { token })));
    expect(answers.map(remaining).sort()).toEqual([1, 2, 3, 4, 5]);
    expect(statuses(answers)).toEqual([401, 401, 401, 401, 401]);

    const { body } = await login();
    expect(remaining(await me(body.token))).toBe(5);
    expect((await app.post('/v1/auth/logout', body.token)).status).toBe(200);
    expect(await me(body.token)).toMatchObject(limited);
    expect((await me(member.token)).status).toBe(200);
  });

  it('tells the exact time to wait, and does not count a refused call', async () => {
    await times(2, () => me(admin.token));
    app.clock.advance(18_400);
    await times(4, () => me(admin.token));
    const [refused] = (await times(10, () => me(admin.token))) as [Answer];
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('42');
    expect(refused.headers.get('ratelimit')).toBe('"default";r=0;t=42');
    expect(refused.headers.get('x-ratelimit-reset-requests')).toBe('42s');
    expect(refused.body).toEqual({
      status: 'error',
      code: 'rate_limited',
      error: 'The limit is 6 requests per minute: try again in 42 seconds.',
      request_id: refused.headers.get('x-request-id'),
    });
    app.clock.advance(41_000);
    expect(await me(admin.token)).toMatchObject(limited);
    app.clock.advance(1_000);
    expect(statuses(await times(3, () => me(admin.token)))).toEqual([200, 200, 429]);
  });

  it('counts registrations, logins and site logins together, and towards both limits', async () => {
    const registered = await app.post('/v1/auth/register', undefined, {});
    const loggedIn = await login();
    const site = await app.post('/v1/auth/site-login?x=1', undefined, {});
    expect([registered, loggedIn, site].map(standing)).toEqual([
      '"default";r=5;t=60, "auth";r=2;t=60',
      '"default";r=4;t=60, "auth";r=1;t=60',
      '"default";r=3;t=60, "auth";r=0;t=60',
    ]);
    expect(site.headers.get('ratelimit-policy')).toBe('"default";q=6;w=60, "auth";q=3;w=60');
    expect(site.headers.get('x-ratelimit-limit-requests')).toBe('3');
    app.clock.advance(20_000);
    for (const path of ['register', 'login', 'site-login']) {
      const refused = await app.call('POST', `/v1/auth/${path}`, { raw: '{' });
      expect(refused).toMatchObject(limited);
      expect(refused.headers.get('retry-after')).toBe('40');
      expect(refused.body.error).toBe('The limit is 3 registrations and logins per minute: try again in 40 seconds.');
    }
    expect(standing(await app.get('/v1/auth/login'))).toBe('"default";r=2;t=40');
    expect(await app.post('/v1/auth/register', masterKey, {})).toMatchObject(limited);
    await times(2, nothing);
    app.clock.advance(40_000);
    expect((await login()).status).toBe(200);
  });

  it('counts registrations and logins by the address, also with valid credentials', async () => {
    const body = { email: 'ada@example.com', password };
    const answers = [];
    for (const token of [admin.token, admin.apiKey, member.token, member.apiKey]) {
      answers.push(await app.post('/v1/auth/login', token, body));
    }
    expect(statuses(answers)).toEqual([200, 200, 200, 429]);
    expect(answers[3]?.headers.get('retry-after')).toBe('60');
    expect((await me(member.apiKey)).status).toBe(401); // 401, not 429: other calls of the key are not limited
  });

  it('does not ask the database about a caller that is over its limit', async () => {
    let lookups = 0;
    onIdentifying = () => lookups++;
    const unknown = () => me(app.container.get(SecretTokens).issue('session').token);
    for (const call of [() => me(member.token), unknown]) {
      app.clock.advance(61_000);
      lookups = 0;
      expect(statuses(await times(8, call)).slice(6)).toEqual([429, 429]);
      expect(lookups).toBe(6);
    }
    app.clock.advance(61_000);
    await times(6, () => me('nonsense'));
    lookups = 0;
    expect(await times(20, unknown)).toMatchObject(Array(20).fill(limited));
    expect(lookups).toBe(6);
    expect((await me(member.token)).status).toBe(200); // not limited by the unknown credentials from its address
    onIdentifying = () => {};
  });

  it('counts the calls of an ended session by the address alone', async () => {
    const { body } = await login();
    app.clock.advance(30_000);
    expect((await app.post('/v1/auth/logout', body.token)).status).toBe(200);
    app.clock.advance(30_000); // the address has all its calls again, the ended session has not
    expect(statuses(await times(7, () => me(body.token)))).toEqual([...Array(6).fill(401), 429]);
  });

  it('refuses a call over the limit on every route before any other check', async () => {
    await times(6, nothing);
    const raw = 'x'.repeat(2 * bodyLimits.ordinary);
    for (const contract of contracts.filter(({ path }) => /^\/(openai\/)?v1\//.test(path))) {
      const path = contract.path.replace(/\{\w+\*?\}/g, 'no-identifier');
      const answer = await app.call(contract.method.toUpperCase(), path, contract.body ? { raw } : {});
      expect(`${path}: ${statusAndCode(answer)}`).toBe(`${path}: 429 rate_limited`);
    }
  });

  it.each([
    [401, 'GET', '/v1/auth/me', undefined, undefined],
    [401, 'POST', '/v1/projects', masterKey, '{}'],
    [403, 'POST', '/v1/projects', 'member', '{}'],
    [404, 'GET', '/v1/nothing', 'member', undefined],
    [404, 'GET', '/v1', undefined, undefined],
    [404, 'GET', '/v1/projects/%ff', 'member', undefined],
    [405, 'PATCH', '/v1/projects', 'member', '{}'],
    [400, 'POST', '/v1/auth/verify-email', undefined, '{'],
    [413, 'POST', '/v1/auth/verify-email', undefined, 'x'.repeat(2 * bodyLimits.ordinary)],
    [422, 'POST', '/v1/auth/verify-email', undefined, '{}'],
  ] as const)(
    'counts calls that are refused with %i, and then answers 429: %s %s',
    async (status, method, path, who, raw) => {
      const token = who === 'member' ? member.token : who;
      const call = () => app.call(method, path, { token, ...(raw && { raw }) });
      const answers = await times(7, call);
      expect(statuses(answers)).toEqual([...Array(6).fill(status), 429]);
      expect(answers.map(standing)).toEqual([5, 4, 3, 2, 1, 0, 0].map((left) => `"default";r=${left};t=60`));
      for (const { headers } of answers) {
        expect(headers.get('ratelimit-policy')).toBe('"default";q=6;w=60');
        expect(headers.get('x-ratelimit-limit-requests')).toBe('6');
        expect(headers.get('x-ratelimit-reset-requests')).toBe('1m0s');
      }
    },
  );

  it('counts by the address, and sends the headers, while the database cannot be reached', async () => {
    expect(remaining(await me(admin.token))).toBe(5);
    storage = 'down';
    const answers = await times(7, () => me(admin.token));
    expect(statuses(answers)).toEqual([...Array(6).fill(503), 429]);
    expect(answers[0]?.body.code).toBe('storage_unavailable');
    expect(answers.map(remaining)).toEqual([5, 4, 3, 2, 1, 0, 0]);
    storage = 'up';
    expect(remaining(await me(admin.token))).toBe(4);
  });

  it('limits nothing outside /v1 and /openai/v1', async () => {
    await times(6, nothing);
    for (const path of ['/health/live', '/openapi.json', '/nothing', '/v1x', '/V1/auth/me']) {
      const answer = await app.get(path);
      expect(answer.status).not.toBe(429);
      expect(answer.headers.has('ratelimit')).toBe(false);
    }
    expect((await nothing()).status).toBe(429);
  });

  it('ignores X-Forwarded-For', async () => {
    let n = 0;
    const forwarded = () => app.call('GET', '/v1/nothing', { headers: { 'X-Forwarded-For': `192.0.2.${++n}` } });
    expect(statuses(await times(7, forwarded))).toEqual([...Array(6).fill(404), 429]);
  });

  // These two tests must be the last ones: they shut down the app.
  it('answers a call that is being authenticated when the shutdown begins', async () => {
    onIdentifying = () => shutdown.begin();
    expect((await me(admin.token)).status).toBe(200);
    expect((await me(admin.token)).status).toBe(503);
  });

  it('still sends the headers of the limits during the shutdown', async () => {
    shutdown.begin();
    const answers = await times(7, nothing);
    expect(answers[0]).toMatchObject({ status: 503, body: { code: 'shutting_down' } });
    expect(answers[0]?.headers.get('connection')).toBe('close');
    expect(answers.map(remaining)).toEqual([5, 4, 3, 2, 1, 0, 0]);
    expect(answers[6]).toMatchObject(limited);
  });
});

describe('a service behind a proxy', () => {
  let app: TestApp;
  afterEach(() => app.stop());
  const from = (forwarded: string) => app.call('GET', '/v1/nothing', { headers: { 'X-Forwarded-For': forwarded } });

  it('uses the address that a trusted proxy added, and ignores earlier ones', async () => {
    app = await TestApp.start({ env: { ...LIMITS, SERVICE_TRUST_PROXY: '10.0.0.0/8,loopback' } });
    expect(remaining(await from('192.0.2.1'))).toBe(5);
    expect(remaining(await from('192.0.2.2'))).toBe(5);
    expect(remaining(await from('198.51.100.7, 192.0.2.1'))).toBe(4);
    expect(remaining(await from('198.51.100.8, 192.0.2.1, 10.1.2.3'))).toBe(3);
    expect(remaining(await from('2001:db8:1:2::3'))).toBe(5);
    expect(remaining(await from('2001:db8:1:2:ffff::4'))).toBe(4);
    expect(remaining(await app.get('/v1/nothing'))).toBe(5);
    expect(remaining(await from('unknown'))).toBe(4);
  });

  it('ignores the addresses from a proxy that is not trusted', async () => {
    app = await TestApp.start({ env: { ...LIMITS, SERVICE_TRUST_PROXY: '10.0.0.0/8,192.0.2.9' } });
    expect(remaining(await from('192.0.2.1'))).toBe(5);
    expect(remaining(await from('192.0.2.2, 10.1.2.3'))).toBe(4);
  });
});

describe('the key of a call', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['192.0.2.1:5000', '192.0.2.1'],
    ['[2001:db8::1]:5000', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', null],
    ['_hidden', null],
    ['[x]:1', null],
    ['::ffff:1.2.3.4.5', null],
  ])('of %s is %s', (address, expected) => {
    expect(sourceOf(address)).toBe(expected);
  });

  it("is the proxy's own address if the proxy forwards none", () => {
    const socket = { remoteAddress: '::ffff:10.0.0.1' } as never;
    expect(sourceKey({ ip: 'unknown', socket })).toEqual({ kind: 'address', value: '10.0.0.1' });
    expect(sourceKey({ ip: '192.0.2.1', socket })).toEqual({ kind: 'address', value: '192.0.2.1' });
    expect(sourceKey({ ip: undefined, socket: {} as never })).toEqual({ kind: 'address', value: '' });
  });
});

describe('the headers of the rate limits', () => {
  it('name both limits; those of OpenAI name the tighter one', () => {
    const auth = { policy: 'auth', limit: 20, remaining: 0, seconds: 12 } as const;
    const headers = rateLimitHeaders([{ policy: 'default', limit: 120, remaining: 100, seconds: 31 }, auth]);
    expect(headers).toMatchObject({
      'RateLimit-Policy': '"default";q=120;w=60, "auth";q=20;w=60',
      RateLimit: '"default";r=100;t=31, "auth";r=0;t=12',
      'x-ratelimit-limit-requests': '20',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '12s',
    });
    const alike = rateLimitHeaders([{ policy: 'default', limit: 3, remaining: 0, seconds: 31 }, auth]);
    expect(alike['x-ratelimit-reset-requests']).toBe('31s');
  });
});
