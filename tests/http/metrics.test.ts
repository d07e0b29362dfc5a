import { masterKey } from '../support/monitoring.js';
import { register } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

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
