import { ClockedApp } from '../support/clocked-app.js';
import { masterKey } from '../support/monitoring.js';
import { register } from '../support/workspace.js';

const LIMIT = 30;

describe('GET /metrics', () => {
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
});

const labels = (of: Record<string, string | number>) =>
  Object.entries(of)
    .map(([name, value]) => `${name}="${String(value).replace(/[{}]/g, '\\$&')}"`)
    .join(',');
