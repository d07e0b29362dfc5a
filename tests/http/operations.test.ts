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
    expect(caller).toEqual({ kind: 'session', user, team, role: 'admin', operator: true, verified: false });
    expect(permissions).toMatchObject({ manage_team: true, mint_keys: false, chat: true, run_jobs: false });
    const key = await status(admin.apiKey);
    expect(key.caller).toEqual({ ...caller, kind: 'api_key' });
    expect(key.permissions).toMatchObject({ manage_team: false, read_workspace: false, manage_monitoring: true });
    const { permissions: ofMember } = await status(member.token);
    expect(ofMember).toMatchObject({ read_workspace: true, edit_workspace: false, manage_monitoring: false });
    expect(await status(stranger.token)).toMatchObject({
      caller: { operator: false, role: 'admin', team: { id: ownTeam(stranger.id) } },
      permissions: { edit_workspace: true, read_monitoring: false },
    });
    const { caller: master, permissions: ofMaster, runtimes } = await status(masterKey);
    expect(master).toEqual({ kind: 'master', user: null, team: null, role: 'admin', operator: true, verified: true });
    expect(ofMaster).toMatchObject({ run_jobs: true, manage_monitoring: true, chat: false, own_account: false });
    expect(runtimes).toEqual([]);
  });

  it('tells what is left of both limits after this call', async () => {
    app.clock.advance(61_000);
    await app.get('/v1/auth/me', member.token);
    const answer = await app.get('/v1/status', member.token);
    expect(answer.body.limits).toEqual({
      requests: { limit: 120, remaining: 118, window_seconds: 60, reset_seconds: 60 },
      auth: { limit: 20, remaining: 20, window_seconds: 60, reset_seconds: 0 },
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
        reason: null,
        task: null,
      },
      { project_id: first, project_name: 'Capitals', state: 'stopped', model_id: model, reason: null, task: null },
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
