import { ClockedApp } from '../support/clocked-app.js';
import { masterKey } from '../support/monitoring.js';
import { createProject, type Member, moveToOwnTeam, ownTeam, register, registeredModel } from '../support/workspace.js';

describe('GET /v1/status', () => {
  let app: ClockedApp;
  let admin: Member;
  let member: Member;
  beforeAll(async () => {
    app = await ClockedApp.start({ SERVICE_MASTER_KEY: masterKey, SERVICE_MAX_ACCOUNTS: '3' });
    [admin, member] = [await register(app, 'Ada'), await register(app, 'Mia')];
  });
  afterAll(() => app.stop());

  const status = async (token: string) => (await app.get('/v1/status', token)).body;

  it('says who calls and what the credential may do', async () => {
    const { caller, permissions } = await status(admin.token);
    const { alert_emails, ...user } = (await app.get('/v1/auth/me', admin.token)).body;
    expect(alert_emails).toBe(false);
    const team = { id: expect.stringMatching(/^tea_/) };
    expect(caller).toEqual({ kind: 'session', user, team, role: 'admin', operator: true, verified: false });
    expect(permissions).toMatchObject({ manage_team: true, mint_keys: false, chat: true, run_jobs: false });
    const key = await status(admin.apiKey);
    expect(key.caller).toEqual({ ...caller, kind: 'api_key' });
    expect(key.permissions).toMatchObject({ manage_team: false, read_workspace: false, manage_monitoring: true });
    const { permissions: ofMember } = await status(member.token);
    expect(ofMember).toMatchObject({ read_workspace: true, edit_workspace: false, manage_monitoring: false });
    const regular = await register(app, 'Rea');
    await moveToOwnTeam(app.databaseUrl, regular.id);
    expect(await status(regular.token)).toMatchObject({
      caller: { operator: false, role: 'admin', team: { id: ownTeam(regular.id) } },
      permissions: { edit_workspace: true, read_monitoring: false },
    });
    const { caller: master, permissions: ofMaster, runtimes } = await status(masterKey);
    expect(master).toEqual({ kind: 'master', user: null, team: null, role: 'admin', operator: true, verified: true });
    expect(ofMaster).toMatchObject({ run_jobs: true, manage_monitoring: true, chat: false, own_account: false });
    expect(runtimes).toEqual([]);
  });

  it('says what remains of both limits, the call itself counted', async () => {
    app.clock.advance(61_000);
    await app.get('/v1/auth/me', member.token);
    const answer = await app.get('/v1/status', member.token);
    expect(answer.body.limits).toEqual({
      requests: { limit: 120, remaining: 118, window_seconds: 60, reset_seconds: 60 },
      auth: { limit: 20, remaining: 20, window_seconds: 60, reset_seconds: 0 },
    });
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('118');
  });

  it("says the states of the team's runtimes, to each of its credentials", async () => {
    const [first, second] = [await createProject(app, admin.token), await createProject(app, admin.token)];
    const model = await registeredModel(app, admin.token, first);
    await app.put(`/v1/projects/${first}/runtime`, admin.token, { model_id: model });
    const expected = [
      { project_id: second, project_name: 'Capitals', state: 'not_connected', model_id: null, reason: null },
      { project_id: first, project_name: 'Capitals', state: 'stopped', model_id: model, reason: null },
    ];
    for (const token of [admin.token, member.token, member.apiKey]) {
      expect((await status(token)).runtimes).toEqual(expected);
    }
  });
});

describe('GET /metrics', () => {
  const LIMIT = 30;
  let app: ClockedApp;
  beforeAll(async () => {
    app = await ClockedApp.start({ SERVICE_MASTER_KEY: masterKey, SERVICE_RATE_LIMIT_PER_MIN: String(LIMIT) });
  });
  afterAll(() => app.stop());

  const metrics = async () => (await app.get('/metrics', masterKey)).body as string;

  it('tells the master key, in the format of Prometheus, of all that runs', async () => {
    const { status, headers, body } = await app.get('/metrics', masterKey);
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
      'tenon_database_pool_waiting_requests 0',
      'tenon_password_hashing_running 0',
      'tenon_password_hashing_refusals_total 0',
      'tenon_deployments{status="running"} 0',
      'tenon_chat_runtimes{state="ready"} 0',
      'tenon_rate_limit_refusals_total{limit="default"} 0',
    ]) {
      expect(body.split('\n')).toContain(line);
    }
    expect(body).toMatch(/^tenon_database_pool_connections [1-9]/m);
    expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(body).toMatch(/^process_resident_memory_bytes /m);
    const named = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]);
    expect(named.filter(([name, type]) => type === 'counter' && !name?.endsWith('_total'))).toEqual([]);
  });

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
    expect(body).not.toMatch(/nothing|neither/);
  });

  it('counts what the limiter refuses, where it would have gone, and never refuses the master key itself', async () => {
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

describe('calls from the pages of other sites', () => {
  const listed = 'https://app.example.com';
  const corsHeaders = ({ headers }: { headers: Headers }) =>
    [...headers.keys()].filter((name) => name.startsWith('access-control-'));

  let app: ClockedApp;
  let closed: ClockedApp;
  beforeAll(async () => {
    const limits = { SERVICE_RATE_LIMIT_PER_MIN: '4' };
    app = await ClockedApp.start({ ...limits, SERVICE_CORS_ORIGINS: `${listed}, http://localhost:3000` });
    closed = await ClockedApp.start(limits);
  });
  afterAll(async () => {
    await app.stop();
    await closed.stop();
  });
  beforeEach(() => app.clock.advance(61_000));

  const preflight = (to: ClockedApp, origin: string) =>
    to.call('OPTIONS', '/v1/projects', {
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization,content-type,if-match,x-conversation-id',
      },
    });
  const read = (to: ClockedApp, origin: string, path = '/v1/auth/me') =>
    to.call('GET', path, { headers: { Origin: origin } });

  it('are answered for listed origins, refusals too, with what scripts need to read', async () => {
    for (const origin of [listed, 'http://localhost:3000']) {
      const answer = await read(app, origin);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
      expect(answer.headers.get('vary')).toContain('Origin');
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
      const exposed = answer.headers.get('access-control-expose-headers')?.toLowerCase().split(',');
      const wanted = ['x-request-id', 'x-conversation-id', 'etag', 'retry-after', 'ratelimit', 'ratelimit-policy'];
      const openAi = ['limit', 'remaining', 'reset'].map((what) => `x-ratelimit-${what}-requests`);
      expect(exposed?.sort()).toEqual([...wanted, ...openAi].sort());
    }
    await read(app, listed);
    await read(app, listed);
    const limited = await read(app, listed);
    expect(limited.status).toBe(429);
    expect(limited.headers.get('access-control-allow-origin')).toBe(listed);
  });

  it('are preceded by a question that is answered with 200 and does not count', async () => {
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

  it('get no CORS header at all outside /v1, without an origin, or where none is listed', async () => {
    expect(corsHeaders(await read(app, listed, '/health/live'))).toEqual([]);
    expect(corsHeaders(await app.get('/v1/auth/me'))).toEqual([]);
    expect(corsHeaders(await read(closed, listed))).toEqual([]);
    expect((await preflight(closed, listed)).status).toBe(405);
  });
});
