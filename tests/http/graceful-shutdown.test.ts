import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Instance } from '../../src/application/shared/instance.js';
import { TestApp, type TestAppOptions } from './support/test-app.js';

const LIVE = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';

async function connected(
  options: TestAppOptions = {},
): Promise<{ app: TestApp; socket: Socket; answer: Promise<string> }> {
  const app = await TestApp.start(options);
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  await once(socket, 'connect');
  return { app, socket, answer: text(socket) };
}

describe('a server that shuts down', () => {
  it('answers a request that comes on an idle connection, and closes the connection', async () => {
    const { app, socket, answer } = await connected();
    const drained = app.shutdown.drain(app.server, 60_000);
    socket.write(LIVE);
    await drained;
    expect(await answer).toMatch(/^HTTP\/1.1 200 .*Connection: close.*"status":"ok"/s);
  });

  it('refuses a call below /v1 that comes after the shutdown has begun', async () => {
    const { app, socket, answer } = await connected();
    const drained = app.shutdown.drain(app.server, 60_000);
    socket.write('GET /v1/auth/status HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await drained;
    expect(await answer).toMatch(/^HTTP\/1.1 503 .*Connection: close.*"code":"shutting_down"/s);
  });

  it('does not wait for an idle connection', async () => {
    const { app, answer } = await connected();
    await app.shutdown.drain(app.server, 60_000);
    expect(await answer).toBe('');
  });

  it('answers 503 to a caller who stops in the middle of a request', async () => {
    const { app, socket, answer } = await connected();
    socket.write(
      'POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{',
    );
    while (app.shutdown.requestsInFlight === 0) await new Promise((resolve) => setImmediate(resolve));
    await app.shutdown.drain(app.server, 1_000);
    expect(await answer).toMatch(/^HTTP\/1.1 503 .*"code":"shutting_down"/s);
  });

  it('answers 408 to headers that do not arrive in time, also before the shutdown', async () => {
    const { app, socket, answer } = await connected({
      server: { headersTimeout: 50, connectionsCheckingInterval: 20 },
    });
    socket.write('GET / HTTP/1.1\r\nHost: ');
    expect(await answer).toMatch(/^HTTP\/1.1 408 .*"code":"request_timeout"/s);
    await app.stop();
  });
});

describe('an instance that starts', () => {
  it('is not ready before it has loaded its models', async () => {
    const app = await TestApp.start();
    const instance = app.container.get(Instance);
    instance.loading = true;
    const refused = await app.get('/health/ready');
    expect(refused).toMatchObject({ status: 503, body: { code: 'runtime_loading' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await app.get('/health/live')).status).toBe(200);
    instance.loading = false;
    expect((await app.get('/health/ready')).status).toBe(200);
    await app.stop();
  });
});
