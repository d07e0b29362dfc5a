import type { RequestHandler } from 'express';
import { injectable } from 'inversify';
import { Logger } from '../../src/application/shared/ports.js';
import { Middleware } from '../../src/interfaces/http/app.js';
import { TestApp } from './support/test-app.js';

/** Refuses every change. */
@injectable()
class ReadOnlyMode extends Middleware {
  constructor(private readonly logger: Logger) {
    super();
  }

  readonly handle: RequestHandler = (request, response, next) => {
    response.setHeader('X-Mode', 'read-only');
    if (['GET', 'HEAD'].includes(request.method)) return next();
    this.logger.info('refused in read-only mode', { path: request.context.path });
    response.status(503).json({ message: 'This service can be read, but not changed.' });
  };
}

describe('the middleware of a team', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ adapt: (container) => container.bind(Middleware).to(ReadOnlyMode) });
  });
  afterAll(() => app.stop());

  it('runs in every request, and the answer has a request id', async () => {
    for (const path of ['/v1/auth/status', '/auth', '/nothing']) {
      const { headers } = await app.get(path);
      expect(headers.get('x-mode')).toBe('read-only');
      expect(headers.get('x-request-id')).toMatch(/^req_/);
    }
  });

  it('may answer a request, and its log lines have the request id', async () => {
    const response = await fetch(`${app.url}/v1/auth/login`, { method: 'POST' });
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ message: 'This service can be read, but not changed.' });
    const line = app.logger.lines.find(({ event }) => event === 'refused in read-only mode');
    expect(line?.fields).toEqual({ path: '/v1/auth/login', request_id: response.headers.get('x-request-id') });
  });
});
