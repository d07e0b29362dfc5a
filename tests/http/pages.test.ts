import { TestApp } from './support/test-app.js';

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.stop());

describe('the pages', () => {
  it.each(['/auth', '/verify-email', '/reset-password', '/pages/auth.js', '/pages/style.css', '/pages/icon.svg'])(
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

  it('have a console with at most 250 KB of JavaScript, sent again only after a change', async () => {
    const { status, headers, body } = await app.get('/pages/console.js');
    expect(status).toBe(200);
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(250 * 1024);
    expect(headers.get('cache-control')).toBe('no-cache');
    const known = { 'If-None-Match': headers.get('etag') as string };
    expect((await app.call('GET', '/pages/console.js', { headers: known })).status).toBe(304);
    expect((await app.get('/')).headers.get('content-security-policy')).toMatch("script-src 'self';");
  });

  it('are the only files that are served', async () => {
    for (const path of [
      '/pages/',
      '/pages',
      '/pages/auth.html',
      '/pages/..%2fpackage.json',
      '/auth/',
      '/public/auth.js',
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
