import { describeInBrowser, Visitor } from '../support/browser.js';
import { Service } from '../support/service.js';
import { register } from '../support/workspace.js';

describe('the reference of the API', () => {
  let service: Service;
  beforeAll(async () => {
    service = await Service.start();
  });
  afterAll(() => service.stop());

  it('is a document of the version that runs, and is sent again only when it is another one', async () => {
    const { body, headers } = await service.get('/openapi.json');
    expect(body).toMatchObject({ openapi: '3.1.0', info: { version: require('../../package.json').version } });
    expect(headers.get('cache-control')).toBe('no-cache');
    const tag = headers.get('etag') as string;
    expect(tag).toMatch(/^"[\w-]{43}"$/);
    // Without it, `fetch` says of its own accord that it wants no answer from a cache.
    const revalidating = { 'Cache-Control': 'max-age=0' };
    const asked = (known: string) =>
      service.call('GET', '/openapi.json', { headers: { 'If-None-Match': known, ...revalidating } });
    expect(await asked(tag)).toMatchObject({ status: 304, body: '' });
    expect((await asked('"another"')).body).toEqual(body);
  });

  it('is a page with nothing from elsewhere', async () => {
    const page = await service.get('/docs');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toMatch(/script-src|unsafe-eval|\*/);
    for (const [, file] of (page.body as string).matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect(file).toMatch(/^\//);
      expect((await fetch(service.url + file)).status).toBe(200);
    }
  });

  describeInBrowser('in a browser', () => {
    it('shows every area and its examples, and calls the API with a credential', async () => {
      const visitor = await Visitor.start(service.url);
      try {
        await seen(visitor);
      } finally {
        await visitor.stop();
      }
      expect(visitor.complaints).toEqual([]);
    }, 150_000);

    async function seen(visitor: Visitor): Promise<void> {
      const { token } = await register(service, 'Ada');
      const page = await visitor.open('/docs');
      page.setDefaultTimeout(60_000);
      await page.locator('.opblock-tag').first().waitFor();
      const areas = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.opblock-tag')].map((one) => one.dataset.tag)`,
      );
      expect(areas).toEqual(expect.arrayContaining(['Team accounts', 'Monitoring', 'Project workspace', 'Inference']));

      await page.getByRole('button', { name: 'Authorize' }).click();
      await page.fill('#auth-bearer-value >> nth=0', token);
      await page.getByRole('button', { name: 'Apply credentials' }).first().click();
      await page.getByRole('button', { name: 'Close' }).last().click();

      await page.click('.opblock-tag[data-tag="Team accounts"]');
      const operation = page.locator('#operations-Team_accounts-readOwnAccount');
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('.response[data-code="401"]').getByText('session_required').first().waitFor();
      await operation.getByRole('button', { name: 'Try it out' }).click();
      await operation.getByRole('button', { name: 'Execute' }).click();
      const answer = operation.locator('.live-responses-table .highlight-code').first();
      await answer.waitFor();
      expect(await answer.textContent()).toContain('ada@example.com');
    }
  });
});
