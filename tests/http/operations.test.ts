import { query } from '../support/database.js';
import { masterKey } from '../support/monitoring.js';
import { createProject, type Member, ownTeam, register, registeredModel } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

describe('GET /v1/status', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  beforeAll(async () => {
    const limits = { SERVICE_RATE_LIMIT_PER_MIN: '120', SERVICE_RATE_LIMIT_AUTH_PER_MIN: '20' };
    const env = { SERVICE_MASTER_KEY: masterKey, ...limits };
    ({ app, admin, member, stranger } = await TestApp.withTeam({ env }));
  });
  afterAll(() => app.stop());

  const status = async (token: string) => (await app.get('/v1/status', token)).body;

  it('tells who calls and what the credential may do', async () => {
    const { caller, permissions } = await status(admin.token);
    const { alert_emails, ...user } = (await app.get('/v1/auth/me', admin.token)).body;
    expect(alert_emails).toBe(false);
    const team = { id: expect.stringMatching(/^tea_/) };
    const known = { user, team, role: 'admin', operator: true, verified: false };
    expect(caller).toEqual({ kind: 'session', ...known, key: null });
    expect(permissions).toMatchObject({ manage_team: true, mint_keys: false, chat: true, run_jobs: false });
    const key = await status(admin.apiKey);
    const none = { projects: null, permissions: null, requests_per_minute: null, tokens_per_minute: null };
    const ownKey = { id: expect.stringMatching(/^key_/), ...none, max_concurrent: null };
    expect(key.caller).toEqual({ ...caller, kind: 'api_key', key: ownKey });
    expect(key.permissions).toMatchObject({ manage_team: false, read_workspace: false, manage_monitoring: true });
    const { permissions: ofMember } = await status(member.token);
    expect(ofMember).toMatchObject({ read_workspace: true, edit_workspace: false, manage_monitoring: false });
    expect(await status(stranger.token)).toMatchObject({
      caller: { operator: false, role: 'admin', team: { id: ownTeam(stranger.id) } },
      permissions: { edit_workspace: true, read_monitoring: false },
    });
    const { caller: master, permissions: ofMaster, runtimes } = await status(masterKey);
    const nobody = { user: null, team: null, key: null };
    expect(master).toEqual({ kind: 'master', ...nobody, role: 'admin', operator: true, verified: true });
    expect(ofMaster).toMatchObject({ run_jobs: true, manage_monitoring: true, chat: false, own_account: false });
    expect(runtimes).toEqual([]);
  });

  it('tells which permissions wait for a verified e-mail, and how e-mails are delivered', async () => {
    const told = async (token: string) => {
      const { permissions, needs_verification, mail } = await status(token);
      return { mints: permissions.mint_keys, needs_verification, mail };
    };
    const waiting = ['mint_keys', 'run_jobs', 'run_evaluations'];
    expect(await told(admin.token)).toEqual({ mints: false, needs_verification: waiting, mail: 'outbox' });
    expect(await told(member.token)).toMatchObject({ needs_verification: ['mint_keys'], mail: 'outbox' });
    expect(await told(member.apiKey)).toMatchObject({ needs_verification: [] });
    expect(await told(masterKey)).toMatchObject({ needs_verification: [] });
    const verify = (date: string) => query(app.database.url, `UPDATE accounts SET email_verified_at = ${date}`);
    await verify('now()');
    expect(await told(admin.token)).toMatchObject({ mints: true, needs_verification: [] });
    await verify('NULL');
  });

  it('tells what is left of both limits after this call', async () => {
    app.clock.advance(61_000);
    await app.get('/v1/auth/me', member.token);
    const answer = await app.get('/v1/status', member.token);
    expect(answer.body.limits).toEqual({
      requests: { limit: 120, remaining: 118, window_seconds: 60, reset_seconds: 60 },
      auth: { limit: 20, remaining: 20, window_seconds: 60, reset_seconds: 0 },
      key: null,
    });
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('118');
  });

  it("tells the states of the team's runtimes to each account of the team", async () => {
    const [first, second] = [await createProject(app, admin.token), await createProject(app, admin.token)];
    const model = await registeredModel(app, admin.token, first);
    await app.put(`/v1/projects/${first}/runtime`, admin.token, { model_id: model });
    const expected = [
      {
        project_id: second,
        project_name: 'Capitals',
        state: 'not_connected',
        model_id: null,
        fallbacks: [],
        split: null,
        targets: [],
        reason: null,
        task: null,
      },
      {
        project_id: first,
        project_name: 'Capitals',
        state: 'stopped',
        model_id: model,
        fallbacks: [],
        split: null,
        targets: [{ model_id: model, share: 1, state: 'stopped', reason: null, breaker: 'closed', retry_after: null }],
        reason: null,
        task: null,
      },
    ];
    for (const token of [admin.token, member.token, member.apiKey]) {
      expect((await status(token)).runtimes).toEqual(expected);
    }
  });
});

describe('GET /metrics', () => {
  const LIMIT = 30;
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ env: { SERVICE_MASTER_KEY: masterKey, SERVICE_RATE_LIMIT_PER_MIN: String(LIMIT) } });
  });
  afterAll(() => app.stop());

  const metrics = async () => (await app.get('/metrics', masterKey)).body as string;

  it('counts requests by the templates of their routes, and all unknown paths as one', async () => {
    const { token } = await register(app, 'Ada');
    for (const path of ['/v1/projects/a', '/v1/projects/b', '/nothing', '/neither/this', '/docs'])
      await app.get(path, token);
    await app.call('DELETE', '/v1/projects', { token });
    const body = await metrics();
    const count = (method: string, route: string, status: number) =>
      new RegExp(`^tenon_http_requests_total\\{${labels({ method, route, status })}\\} (\\d+)$`, 'm').exec(body)?.[1];
    expect(count('POST', '/v1/auth/register', 201)).toBe('1');
    expect(count('GET', '/v1/projects/{project_id}', 404)).toBe('2');
    expect(count('GET', 'unknown', 404)).toBe('2');
    expect(count('GET', 'other', 200)).toBe('1');
    expect(count('DELETE', '/v1/projects', 405)).toBe('1');
    expect(body).not.toMatch(/route="[^"]*(nothing|neither)/);
  });

  it('counts calls over the rate limit by their routes, and never limits the master key', async () => {
    app.clock.advance(61_000);
    for (let n = 0; n < LIMIT + 2; n++) await app.get('/v1/projects/a');
    for (let n = 0; n < LIMIT + 2; n++) expect((await app.get('/metrics', masterKey)).status).toBe(200);
    const answers = [];
    for (let n = 0; n < LIMIT + 1; n++) answers.push(await app.get('/metrics', 'a-guess-at-the-key'));
    expect(answers.at(0)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(answers.at(-1)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    const body = await metrics();
    expect(body).toContain('tenon_rate_limit_refusals_total{limit="default"} 3\n');
    const refused = labels({ method: 'GET', route: '/v1/projects/{project_id}', status: 429 });
    expect(body).toMatch(new RegExp(`^tenon_http_requests_total\\{${refused}\\} 2$`, 'm'));
  });

  const labels = (of: Record<string, string | number>) =>
    Object.entries(of)
      .map(([name, value]) => `${name}="${String(value).replace(/[{}]/g, '\\$&')}"`)
      .join(',');
});

describe('for browsers', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start();
  });
  afterAll(() => app.stop());

  describe('the pages', () => {
    it.each(['/auth', '/verify-email', '/reset-password'])(
      'allow nothing inline or from other sites, no frame, no cache and no referrer: %s',
      async (path) => {
        const { status, headers } = await app.get(path);
        expect(status).toBe(200);
        const policy = headers.get('content-security-policy') ?? '';
        expect(policy.split('; ')).toEqual(
          expect.arrayContaining([
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "frame-ancestors 'none'",
          ]),
        );
        expect(policy).not.toMatch(/unsafe|data:|\*/);
        expect(headers.get('cache-control')).toBe('no-store');
        expect(headers.get('referrer-policy')).toBe('no-referrer');
        expect(headers.get('x-frame-options')).toBe('DENY');
        expect(await app.post(path)).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
      },
    );

    const first = async () => {
      const page = (await app.get('/')).body as string;
      return [...page.matchAll(/(?:href|src)="(pages\/[^"]+)"/g)].map(([, file]) => `/${file}`);
    };

    it('load at most 60 KB compressed at first, in files that a browser keeps for good', async () => {
      let bytes = 0;
      for (const path of await first()) {
        const answer = await fetch(app.url + path, { headers: { 'Accept-Encoding': 'br' } });
        expect(answer.headers.get('content-encoding')).toBe('br');
        expect(answer.headers.get('vary')).toContain('Accept-Encoding');
        expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        bytes += Number(answer.headers.get('content-length'));
      }
      expect(bytes).toBeGreaterThan(10 * 1024);
      expect(bytes).toBeLessThanOrEqual(60 * 1024);
    });

    it('are the same in every encoding, and only the first page is asked for again', async () => {
      const [script = ''] = (await first()).filter((path) => path.endsWith('.js'));
      const as = async (encoding: string) =>
        (await fetch(app.url + script, { headers: { 'Accept-Encoding': encoding } })).text();
      expect(new Set([await as('br'), await as('gzip'), await as('identity'), await as('br;q=0, *')]).size).toBe(1);
      const { headers } = await app.get('/');
      expect(headers.get('cache-control')).toBe('no-cache');
      const known = { 'If-None-Match': headers.get('etag') as string };
      expect((await app.call('GET', '/', { headers: known })).status).toBe(304);
      expect(headers.get('content-security-policy')).toMatch("script-src 'self';");
    });

    it('are the only files that are served', async () => {
      for (const path of [
        '/pages/',
        '/pages',
        '/pages/index.html',
        '/pages/console.js',
        '/pages/..%2fpackage.json',
        '/auth/',
        '/index.html',
      ])
        expect((await app.get(path)).status).toBe(404);
    });
  });

  describe('the reference of the API', () => {
    it('has the version that runs, and is sent again only after a change', async () => {
      const { body, headers } = await app.get('/openapi.json');
      expect(body).toMatchObject({ openapi: '3.1.0', info: { version: require('../../package.json').version } });
      expect(headers.get('cache-control')).toBe('no-cache');
      const tag = headers.get('etag') as string;
      expect(tag).toMatch(/^"[\w-]{43}"$/);
      const revalidated = (known: string) => app.call('GET', '/openapi.json', { headers: { 'If-None-Match': known } });
      expect(await revalidated(tag)).toMatchObject({ status: 304, body: '' });
      expect((await revalidated('"another"')).body).toEqual(body);
    });

    it('has a page that loads nothing from other sites', async () => {
      const page = await app.get('/docs');
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'self'");
      expect(policy).not.toMatch(/script-src|unsafe-eval|\*/);
      for (const [, file] of (page.body as string).matchAll(/(?:src|href)="([^"]+)"/g)) {
        expect(file).toMatch(/^\//);
        expect((await fetch(app.url + file)).status).toBe(200);
      }
    });
  });
});

describe('calls from the pages of other sites', () => {
  const listed = 'https://app.example.com';
  const corsHeaders = ({ headers }: { headers: Headers }) =>
    [...headers.keys()].filter((name) => name.startsWith('access-control-'));

  let app: TestApp;
  let closed: TestApp;
  beforeAll(async () => {
    const limits = { SERVICE_RATE_LIMIT_PER_MIN: '4' };
    app = await TestApp.start({ env: { ...limits, SERVICE_CORS_ORIGINS: `${listed}, http://localhost:3000` } });
    closed = await TestApp.start({ env: limits });
  });
  afterAll(async () => {
    await app.stop();
    await closed.stop();
  });
  beforeEach(() => app.clock.advance(61_000));

  const preflight = (to: TestApp, origin: string) =>
    to.call('OPTIONS', '/v1/projects', {
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization,content-type,if-match,x-conversation-id',
      },
    });
  const read = (to: TestApp, origin: string, path = '/v1/auth/me') =>
    to.call('GET', path, { headers: { Origin: origin } });

  it('get the CORS headers that scripts need, also on refusals, if the origin is listed', async () => {
    for (const origin of [listed, 'http://localhost:3000']) {
      const answer = await read(app, origin);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
      expect(answer.headers.get('vary')).toContain('Origin');
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
      const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase().split(',');
      const wanted = ['x-request-id', 'x-conversation-id', 'etag', 'retry-after', 'ratelimit', 'ratelimit-policy'];
      const tensors = 'inference-header-content-length';
      const openAi = ['limit', 'remaining', 'reset'].map((field) => `x-ratelimit-${field}-requests`);
      const calls = ['x-model-id', 'x-budget-id', 'x-should-retry'];
      expect(exposed?.sort()).toEqual([...wanted, ...openAi, ...calls, tensors].sort());
    }
    await read(app, listed);
    await read(app, listed);
    const limited = await read(app, listed);
    expect(limited.status).toBe(429);
    expect(limited.headers.get('access-control-allow-origin')).toBe(listed);
  });

  it('have a preflight that is answered with 200 and not counted by the rate limit', async () => {
    for (let n = 0; n < 6; n++) {
      const { status, headers, body } = await preflight(app, listed);
      expect({ status, body }).toEqual({ status: 200, body: '' });
      expect(headers.get('access-control-allow-origin')).toBe(listed);
      expect(headers.get('access-control-allow-methods')).toContain('PUT');
      expect(headers.get('access-control-allow-headers')).toBe('authorization,content-type,if-match,x-conversation-id');
      expect(headers.get('vary')).toContain('Origin');
    }
    expect((await read(app, listed)).headers.get('x-ratelimit-remaining-requests')).toBe('3');
  });

  it.each([
    'https://evil.example.com',
    'https://app.example.com.evil.net',
    'https://APP.example.com',
    'http://app.example.com',
    'https://app.example.com:8443',
    'null',
  ])('get no CORS header for %s', async (origin) => {
    expect(corsHeaders(await read(app, origin))).toEqual([]);
    const asked = await preflight(app, origin);
    expect(asked.status).toBe(405);
    expect(corsHeaders(asked)).toEqual([]);
  });

  it('get no CORS header at all for /health, without an origin, or if no origin is listed', async () => {
    expect(corsHeaders(await read(app, listed, '/health/live'))).toEqual([]);
    expect(corsHeaders(await app.get('/v1/auth/me'))).toEqual([]);
    expect(corsHeaders(await read(closed, listed))).toEqual([]);
    expect((await preflight(closed, listed)).status).toBe(405);
  });
});

describe('an instance on a database that a newer version has changed', () => {
  it('is not ready, and refuses what it can no longer do with 503', async () => {
    const app = await TestApp.start();
    const { token } = await register(app, 'Ada');
    const outcome = async (path: string) => {
      const { status, body } = await app.get(path, token);
      return [status, body.code];
    };
    await query(app.database.url, 'ALTER TABLE projects RENAME COLUMN spec TO content');
    expect(await outcome('/v1/projects')).toEqual([500, 'internal_error']);
    expect(await outcome('/health/ready')).toEqual([200, undefined]);
    await query(app.database.url, "INSERT INTO migrations (timestamp, name) VALUES (9e12, 'Later9000000000000')");
    expect(await outcome('/v1/projects')).toEqual([503, 'instance_outdated']);
    expect(await outcome('/health/ready')).toEqual([503, 'instance_outdated']);
    expect(await outcome('/v1/auth/me')).toEqual([200, undefined]);
    expect(await outcome('/v1/nothing')).toEqual([404, 'not_found']);
    await app.stop();
  });
});
