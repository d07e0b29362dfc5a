import { TestApp } from './support/test-app.js';

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
      expect(exposed?.sort()).toEqual([...wanted, ...openAi, tensors].sort());
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
