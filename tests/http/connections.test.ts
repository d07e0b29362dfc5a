import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';
import type { Authenticator } from '../../src/application/accounts/authenticator.js';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { Instance } from '../../src/application/shared/instance.js';
import { MemoryBudget } from '../../src/application/shared/memory-budget.js';
import { bodyLimits, decoded } from '../../src/interfaces/http/body.js';
import type { Contract } from '../../src/interfaces/http/contract.js';
import {
  flowing,
  limitArrival,
  lingeringClose,
  slowClients,
} from '../../src/interfaces/http/middleware/connections.js';
import { readBody, readWhole } from '../../src/interfaces/http/middleware/read-body.js';
import { MemoryModelServer } from '../fakes/deployments/memory-model-server.js';
import { register } from '../support/workspace.js';
import { TestApp, type TestAppOptions } from './support/test-app.js';

const MB = 1024 * 1024;
const LONG = 16 * MB;
const NEVER = 10 * 60_000;

const ends: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

/** Connects to a server with one middleware. */
async function connected(middleware: RequestHandler, answer: RequestListener) {
  const server = createServer((request, response) => {
    middleware(request as Request, response as Response, () => answer(request, response as never));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [[theirs]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
  ends.push(() => {
    socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { socket, closed: once(theirs, 'close') };
}

describe('an answer', () => {
  const ASK = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const asked = async (limits: { stallMs: number; wholeMs: number }) => {
    const middleware = slowClients({ ...limits, bytesPerSecond: LONG });
    const connection = await connected(middleware, (_, response) => response.end(Buffer.alloc(LONG)));
    connection.socket.write(ASK);
    return connection;
  };

  it('ends its connection if nobody reads it', async () => {
    const { closed } = await asked({ stallMs: 100, wholeMs: NEVER });
    await closed;
  });

  it('ends its connection if it is read too slowly', async () => {
    const { socket, closed } = await asked({ stallMs: NEVER, wholeMs: 100 });
    const drops = setInterval(() => socket.pause().read(1), 10);
    await closed;
    clearInterval(drops);
  });

  it('leaves its connection open for the next request if it is read in time', async () => {
    const { socket } = await asked({ stallMs: 20_000, wholeMs: 20_000 });
    for (let answers = 0; answers < 2; answers++) {
      for (let bytes = 0; bytes < LONG; ) bytes += (await once(socket, 'data'))[0].length;
      socket.write(ASK);
    }
  });
});

describe('an answer before the request has arrived whole', () => {
  const BODY = 8 * MB;
  const refused = async (limits: { maxMs: number; maxBytes: number }, read = false) => {
    const connection = await connected(lingeringClose(limits), async (request, response) => {
      const take = () => undefined;
      if (read) await once(request.on('data', take), 'data');
      request.off('data', take);
      response.writeHead(413, { 'Content-Length': 8 }).end('too much');
    });
    const failed = jest.fn();
    connection.socket.on('error', failed).pause();
    connection.socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${BODY}\r\n\r\n`);
    return { ...connection, failed };
  };

  it.each([
    ['nobody has read', false],
    ['the server has begun to read', true],
  ])('reaches a client that first sends the rest of a body that %s', async (_, read) => {
    const { socket, failed, closed } = await refused({ maxMs: NEVER, maxBytes: BODY * 2 }, read);
    await new Promise((sent) => socket.write(Buffer.alloc(BODY), sent));
    await closed; // The client reads the answer only now.
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1.1 413 [\s\S]*too much$/);
    expect(failed).not.toHaveBeenCalled();
  });

  it.each([
    ['as it is', 'identity'],
    ['compressed', 'gzip'],
  ])('leaves its connection ready for the next request once the rest of a body has arrived %s', async (_, coding) => {
    const { socket } = await connected(lingeringClose(), async (request, response) => {
      const { chunks } = decoded(request as Request, { bytes: BODY });
      const reading = chunks[Symbol.asyncIterator]();
      await reading.next();
      void reading.next().catch(() => undefined);
      response.end('refused');
      await reading.return?.();
    });
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: ${coding}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const piece = (bytes: Buffer) =>
      Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
    const noise = randomBytes(MB);
    const body = coding === 'gzip' ? gzipSync(noise) : noise;
    for (let request = 1; request <= 2; request++) {
      socket.write(head);
      socket.write(piece(body.subarray(0, MB / 2)));
      let answer = '';
      while (!answer.includes('refused')) answer += (await once(socket, 'data'))[0];
      for (let at = MB / 2; at < body.length; at += 64 * 1024) socket.write(piece(body.subarray(at, at + 64 * 1024)));
      socket.write('0\r\n\r\n');
    }
  });

  it.each([
    ['of a client that sends no more', { maxMs: 100, maxBytes: BODY }, 1],
    ['of a client that sends too much', { maxMs: NEVER, maxBytes: MB }, BODY - 1],
  ])('ends the connection %s', async (_, limits, bytes) => {
    const { socket, closed } = await refused(limits);
    socket.write(Buffer.alloc(bytes));
    await closed;
  });
});

describe('the arrival of a body', () => {
  /** Returns a request, and the stream on which the test sends its body. */
  const aRequest = (headers: IncomingMessage['headers'] = { 'transfer-encoding': 'chunked' }) => {
    const body = new PassThrough();
    return { body, request: Object.assign(body, { headers, complete: false }) as unknown as Request };
  };
  /** Returns a body after its first piece was read. */
  const begun = async () => {
    const { body, request } = aRequest();
    const pieces = flowing(request);
    body.write('the beginning');
    await pieces.next();
    return { body, request, pieces };
  };

  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('has a time limit of a minute', () => {
    const late = jest.fn();
    limitArrival(aRequest().request, late);
    jest.advanceTimersByTime(59_999);
    expect(late).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(late).toHaveBeenCalledTimes(1);
  });

  it('has no time limit if there is no body, or if the whole body has arrived', async () => {
    const late = jest.fn();
    limitArrival(aRequest({}).request, late);
    limitArrival(aRequest({ 'content-length': '0' }).request, late);
    limitArrival(Object.assign(aRequest().request, { complete: true }), late);
    const { body, request } = aRequest();
    limitArrival(request, late);
    body.end('all of it');
    for await (const _ of request);
    jest.advanceTimersByTime(600_000);
    expect(late).not.toHaveBeenCalled();
  });

  it('has no time limit while the body flows; afterwards it has a minute again', async () => {
    const late = jest.fn();
    const { body, request } = aRequest();
    limitArrival(request, late);
    const pieces = flowing(request);
    for (let minute = 0; minute < 20; minute++) {
      body.write(Buffer.alloc(64 * 1024));
      expect((await pieces.next()).value).toHaveLength(64 * 1024);
      jest.advanceTimersByTime(14_000);
    }
    expect(late).not.toHaveBeenCalled();
    await pieces.return(undefined);
    jest.advanceTimersByTime(60_000);
    expect(late).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['stalls', 0],
    ['is too slow', 1_000],
  ])('is refused with 408 if it %s', async (_, bytes) => {
    const { body, request, pieces } = await begun();
    for (let second = 0; second < 14; second++) {
      jest.advanceTimersByTime(1_000);
      if (bytes === 0) continue;
      body.write(Buffer.alloc(bytes));
      await pieces.next();
    }
    const next = pieces.next();
    jest.advanceTimersByTime(1_000);
    await expect(next).rejects.toMatchObject({ code: 'request_timeout', status: 408 });
    expect(request.destroyed).toBe(false);
  });

  it('is accepted even if the service reads it slowly', async () => {
    const { body, pieces } = await begun();
    body.write('more');
    await new Promise((resolve) => setImmediate(resolve));
    jest.advanceTimersByTime(300_000);
    body.end('the end');
    const rest: Uint8Array[] = [];
    for await (const piece of pieces) rest.push(piece);
    expect(Buffer.concat(rest).toString()).toBe('morethe end');
  });

  it('ends with a refusal when it is cut off', async () => {
    const { body, request, pieces } = await begun();
    const next = pieces.next();
    body.destroy();
    await expect(next).rejects.toMatchObject({ code: 'bad_request' });
    await expect(flowing(request).next()).rejects.toMatchObject({ code: 'bad_request' });
  });
});

describe('a body that is read whole', () => {
  const begun = () => {
    const body = Object.assign(new PassThrough(), { headers: {} });
    const reading = readWhole(body as unknown as Request, { bytes: 10 });
    reading.catch(() => undefined);
    return { body, reading };
  };
  const listeners = (body: PassThrough) => ['data', 'error', 'close'].map((event) => body.listenerCount(event));
  const before = listeners(new PassThrough());

  it('contains all of its pieces, and leaves no listener behind', async () => {
    const { body, reading } = begun();
    body.write('12345');
    body.end('67890');
    expect((await reading).toString()).toBe('1234567890');
    expect(listeners(body)).toEqual(before);
  });

  it('is read into its own memory if its length is known and large', async () => {
    const length = 2 * MB;
    const body = Object.assign(new PassThrough(), { headers: { 'content-length': String(length) } });
    const joined = jest.spyOn(Buffer, 'concat');
    const reading = readWhole(body as unknown as Request, { bytes: length });
    for (let at = 0; at < 32; at++) body.write(Buffer.alloc(length / 32, at));
    body.end();
    const whole = await reading;
    expect(joined).not.toHaveBeenCalled();
    joined.mockRestore();
    expect(whole).toEqual(Buffer.concat(Array.from({ length: 32 }, (_, at) => Buffer.alloc(length / 32, at))));
    expect(listeners(body)).toEqual(before);
  });

  it('is refused once it is over the limit; the rest is not kept', async () => {
    const { body, reading } = begun();
    body.write('12345');
    body.write('678901');
    await expect(reading).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(listeners(body)).toEqual(before);
    expect(body.isPaused()).toBe(true);
  });

  it.each([
    [true, 0],
    [false, 1],
  ])('is passed on only if its request was not refused meanwhile (refused: %s)', async (headersSent, times) => {
    const body = new PassThrough();
    const request = Object.assign(body, { headers: { 'content-type': 'application/json' }, context: {}, socket: {} });
    const response = Object.assign(new EventEmitter(), { headersSent: false, closed: false });
    const dependencies = {
      memory: new MemoryBudget(MB),
      authenticator: {} as Authenticator,
      bodyLimits,
      stallMs: NEVER,
      spoolFolder: '/nowhere',
    };
    const next = jest.fn();
    const reading = readBody({ access: 'public' } as Contract, dependencies)(request as never, response as never, next);
    response.headersSent = headersSent;
    body.end('{}');
    await reading;
    expect(next).toHaveBeenCalledTimes(times);
  });

  it.each<[string, (body: PassThrough) => unknown]>([
    ['is cut off', (body) => body.write('1234567890') && setImmediate(() => body.destroy())],
    ['breaks', (body) => body.destroy(new Error('aborted'))],
  ])('is refused when it %s', async (_, end) => {
    const { body, reading } = begun();
    end(body);
    await expect(reading).rejects.toMatchObject({ code: 'bad_request' });
    expect(listeners(body)).toEqual(before);
    await expect(readWhole(body as unknown as Request, { bytes: 10 })).rejects.toMatchObject({ code: 'bad_request' });
  });
});

const LIVE = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';

async function connectedApp(
  options: TestAppOptions = {},
): Promise<{ app: TestApp; socket: Socket; answer: Promise<string> }> {
  const app = await TestApp.start(options);
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  await once(socket, 'connect');
  return { app, socket, answer: text(socket) };
}

describe('a long body of a prediction', () => {
  it('is refused with 408 if its sender stalls as long as an inference may take', async () => {
    const servers = new MemoryModelServer(async () => ({ status: 200, text: '{}' }));
    const { app, socket, answer } = await connectedApp({
      env: { SERVICE_INFERENCE_TIMEOUT_S: '0.2' },
      adapt: (container) => container.rebind(ModelServer).toConstantValue(servers),
    });
    const { token, apiKey } = await register(app, 'Ada');
    const { body } = await app.post('/v1/deployments', token, { name: 'iris', model_path: 'iris.onnx' });
    const head = `Host: localhost\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\n`;
    socket.write(`POST /v1/deployments/${body.id}/predict HTTP/1.1\r\n${head}Content-Length: ${MB}\r\n\r\n{`);
    await once(socket, 'readable');
    socket.end();
    expect(await answer).toMatch(/^HTTP\/1.1 408 .*"code":"request_timeout","error":"The body stalled for 0.2 s."/s);
    await app.stop();
  });
});

describe('a server that shuts down', () => {
  it('answers a request that comes on an idle connection, and closes the connection', async () => {
    const { app, socket, answer } = await connectedApp();
    const drained = app.shutdown.drain(app.server, 60_000);
    socket.write(LIVE);
    await drained;
    expect(await answer).toMatch(/^HTTP\/1.1 200 .*Connection: close.*"status":"ok"/s);
  });

  it('refuses a call below /v1 that comes after the shutdown has begun', async () => {
    const { app, socket, answer } = await connectedApp();
    const drained = app.shutdown.drain(app.server, 60_000);
    socket.write('GET /v1/auth/status HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await drained;
    expect(await answer).toMatch(/^HTTP\/1.1 503 .*Connection: close.*"code":"shutting_down"/s);
  });

  it('does not wait for an idle connection', async () => {
    const { app, answer } = await connectedApp();
    await app.shutdown.drain(app.server, 60_000);
    expect(await answer).toBe('');
  });

  it('answers 503 to a caller who stops in the middle of a request', async () => {
    const { app, socket, answer } = await connectedApp();
    socket.write(
      'POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{',
    );
    while (app.shutdown.requestsInFlight === 0) await new Promise((resolve) => setImmediate(resolve));
    await app.shutdown.drain(app.server, 1_000);
    expect(await answer).toMatch(/^HTTP\/1.1 503 .*"code":"shutting_down"/s);
  });

  it('answers 408 to headers that do not arrive in time, also before the shutdown', async () => {
    const { app, socket, answer } = await connectedApp({
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
