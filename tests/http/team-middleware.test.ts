import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReadOnlyMode } from './support/read-only-mode.js';
import { TestApp } from './support/test-app.js';

describe('the middleware of a team', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ middleware: [ReadOnlyMode] });
  });
  afterAll(() => app.stop());

  it('takes part in every request, with its request id', async () => {
    for (const path of ['/v1/auth/status', '/auth', '/nothing']) {
      const { headers } = await app.get(path);
      expect(headers.get('x-mode')).toBe('read-only');
      expect(headers.get('x-request-id')).toMatch(/^req_/);
    }
  });

  it('may answer itself, and logs like everything else', async () => {
    const response = await fetch(`${app.url}/v1/auth/login`, { method: 'POST' });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ message: 'This service can be read, but not changed.' });
    const line = app.logger.lines.find(({ event }) => event === 'refused in read-only mode');
    expect(line?.fields).toEqual({ path: '/v1/auth/login', request_id: response.headers.get('x-request-id') });
  });

  it('is as CONTRIBUTING.md shows it', () => {
    const example = readFileSync(join(__dirname, 'support/read-only-mode.ts'), 'utf8');
    const code = example.slice(example.indexOf('import')).replaceAll('../../../src/', '../../').trim();
    const page = readFileSync(join(process.cwd(), 'CONTRIBUTING.md'), 'utf8').replaceAll(/^ {3}/gm, '');
    expect(page).toContain(code.replace("'../../interfaces/http/app.js'", "'./app.js'"));
  });
});
