import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { InvalidRequest } from '../../src/domain/shared/errors.js';
import type { Member } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

/** Sends exactly this text. Returns the whole answer. */
const raw = (app: TestApp, text: string) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer)).on('error', reject);
  });

const refusal = (answer: string) => {
  const [, status] = /^HTTP\/1.1 (\d+)/.exec(answer) ?? [];
  return `${status} ${/"code":"(\w+)"/.exec(answer)?.[1]}`;
};

describe('the host of a request', () => {
  const asked = (app: TestApp, host: string, path = '/v1/auth/status') =>
    app.call('GET', path, { headers: { Host: host } });

  it.each([
    [undefined, ['localhost', 'localhost:9', '127.0.0.1', '127.8.9.1:80', '[::1]', '[::1]:8080', 'LOCALHOST']],
    [
      'https://Tenon.example.com:444/',
      ['tenon.example.com', 'TENON.example.com:444', 'tenon.example.com:80', 'localhost'],
    ],
  ])('may be loopback or that of SERVICE_BASE_URL (%s) if the service listens on loopback', async (baseUrl, hosts) => {
    const app = await TestApp.start({ env: { ...(baseUrl && { SERVICE_BASE_URL: baseUrl }) } });
    for (const host of hosts) expect({ host, status: (await asked(app, host)).status }).toEqual({ host, status: 200 });
    for (const host of [
      'evil.example.com',
      'localhost.evil.example.com',
      '127.0.0.1.evil.net',
      '10.0.0.1',
      'evil:8080',
    ]) {
      for (const path of ['/v1/auth/status', '/auth', '/health/live', '/nothing']) {
        const { status, body, headers } = await asked(app, host, path);
        expect({ host, status, code: body.code }).toEqual({ host, status: 421, code: 'misdirected_request' });
        expect(headers.get('x-request-id')).toBe(body.request_id);
      }
    }
    await app.stop();
  });

  it('may be any if the service listens on the network', async () => {
    const app = await TestApp.start({ env: { SERVICE_HOST: '0.0.0.0' } });
    expect((await asked(app, 'tenon.example.net')).status).toBe(200);
    await app.stop();
  });
});

let app: TestApp;
let admin: Member;
beforeAll(async () => {
  ({ app, admin } = await TestApp.withTeam());
});
afterAll(() => app.stop());

describe('a request', () => {
  it.each([
    ['no host', 'GET /v1/auth/status HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET /v1/auth/status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example.com\r\n\r\n'],
    [
      'another transfer coding',
      'POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'chunked twice',
      'POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'a length and a transfer coding',
      'POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['no HTTP', 'NONSENSE\r\n\r\n'],
    ['a negative length', 'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n'],
  ])('with %s gets 400, and its connection is closed', async (_, text) => {
    expect(refusal(await raw(app, text))).toBe('400 bad_request');
  });

  it('that is not HTTP gets its connection closed, even if the caller never closes it', async () => {
    const port = Number(new URL(app.url).port);
    const accepted = once(app.server, 'connection');
    const caller = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => caller.write('GARBAGE\r\n\r\n'));
    const [theirs] = await accepted;
    await once(
      caller.resume().on('error', () => undefined),
      'end',
    );
    await once(theirs, 'close');
    caller.destroy();
  });

  it('with headers that are too large gets 431, in the envelope', async () => {
    const answer = await raw(app, `GET / HTTP/1.1\r\nHost: localhost\r\nX-Big: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 431 /);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
      status: 'error',
      code: 'headers_too_large',
      error: expect.any(String),
      request_id: expect.stringMatching(/^req_/),
    });
  });

  it.each([
    ['GET http://localhost/v1/nothing', '404 not_found'],
    ['GET http://[/v1/nothing', '404 not_found'],
    ['GET //v1/auth/status', '404 not_found'],
    ['GET /v1/%2e%2e/auth/status', '404 not_found'],
    ['OPTIONS *', '404 not_found'],
    ['GET /v1/projects/%ff', '404 not_found'],
    ['GET /docs/%ff', '404 not_found'],
    ['TRACE /v1/projects', '405 method_not_allowed'],
    ['PROPFIND /v1/projects', '405 method_not_allowed'],
  ])('for %s gets %s, in the envelope', async (target, expected) => {
    const text = `${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
    const answer = await raw(app, text);
    expect(refusal(answer)).toBe(expected);
    expect(answer).toMatch(/\r\nX-Request-Id: req_/);
  });

  it('gets 100 Continue only if its body is needed, not before a refusal', async () => {
    const head = (path: string, token: string, length = 20) =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${length}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`;
    expect(refusal(await raw(app, head('/v1/projects', 'nobody')))).toBe('401 unauthenticated');
    expect(refusal(await raw(app, head('/v1/projects', admin.apiKey)))).toBe('401 session_required');
    expect(refusal(await raw(app, head('/v1/projects', admin.token, 1_000_000)))).toBe('413 payload_too_large');
    expect(refusal(await raw(app, head('/v1/nothing', admin.token)))).toBe('404 not_found');
    const invited = await raw(app, `${head('/v1/projects', admin.token)}{"name":"A project"}`);
    expect(invited).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 (201|422)/);
  });

  it('with an unknown Expect header is answered like any other', async () => {
    const head = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: the-unexpected\r\n\r\n';
    expect(await raw(app, head)).toMatch(/^HTTP\/1.1 200 /);
  });

  it('without a length is refused when it becomes too large, and its connection stays usable', async () => {
    const chunk = `${(1024).toString(16)}\r\n${'x'.repeat(1024)}\r\n`;
    const head = 'POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const next = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const answer = await raw(app, `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(200)}0\r\n\r\n${next}`);
    expect(refusal(answer)).toBe('413 payload_too_large');
    expect(answer).toMatch(/HTTP\/1.1 200 OK[\s\S]*"status":"ok"/);
  });

  it('with more than 200,000 JSON values is refused before it is parsed', async () => {
    const raw = `{"name":"Many","spec":{"a":[${'1,'.repeat(100_000)}1]}}`;
    const record = JSON.stringify({ input: Array(200_000).fill(1), expected: 'x' });
    expect((await app.call('POST', '/v1/projects', { token: admin.token, raw })).status).toBe(201);
    const project = (await app.post('/v1/projects', admin.token, { name: 'Empty', spec: {} })).body.id;
    const at = `/v1/projects/${project}/datasets`;
    const within = JSON.stringify({ input: Array(70_000).fill(1), expected: 'x' });
    const send = (type: string, raw: string) =>
      app.call('POST', at, { token: admin.token, raw, headers: { 'Content-Type': type } });
    for (const [type, encoded] of [
      ['application/json', (one: string) => `{"records":[${one},${one},${one}]}`],
      ['application/x-ndjson', (one: string) => `${one}\n${one}\n${one}`],
    ] as const) {
      const [detail] = (await send(type, encoded(record))).body.details;
      expect(detail.message).toMatch(/must not have more than 200000 values$/);
      expect((await send(type, encoded(within))).status).toBe(201); // the limit holds for each record
    }
  });
});

describe('a number that a double would change', () => {
  let project: string;
  let dataset: string;
  let model: string;
  let job: string;
  const create = async (path: string, json: object) => (await app.post(path, admin.token, json)).body.id;
  beforeAll(async () => {
    await app.verifyEmails();
    project = await create('/v1/projects', {});
    dataset = await create(`/v1/projects/${project}/datasets`, { records: [] });
    model = await create(`/v1/projects/${project}/models`, { request_id: randomUUID(), spec: {} });
    job = await create('/v1/jobs', { kind: 'external', name: 'training' });
  });
  const below = (rest: string) => `/v1/projects/${project}${rest}`;
  const send = (method: string, path: string, raw: string, type = 'application/json') =>
    app.call(method, path, { token: admin.token, raw, headers: { 'Content-Type': type } });

  it.each<[string, (number: string) => ReturnType<typeof send>]>([
    ['the spec of a project', (n) => send('POST', '/v1/projects', `{"spec":{"a":[${n}]}}`)],
    ['the new spec of a project', (n) => send('PUT', below(''), `{"version":1,"spec":{"a":${n}}}`)],
    [
      'the spec of a model',
      (n) => send('POST', below('/models'), `{"request_id":"${randomUUID()}","spec":{"a":${n}}}`),
    ],
    ['the new spec of a model', (n) => send('PUT', below(`/models/${model}`), `{"version":1,"spec":{"a":${n}}}`)],
    ['an input', (n) => send('POST', below('/datasets'), `{"records":[{"input":${n},"expected":"x"}]}`)],
    [
      'an expected value',
      (n) => send('PUT', below(`/datasets/${dataset}`), `{"version":1,"records":[{"input":"x","expected":${n}}]}`),
    ],
    [
      'a record of JSON Lines',
      (n) => send('POST', below('/datasets'), `{"input":"x","expected":{"a":${n}}}`, 'application/x-ndjson'),
    ],
    ['the result of a job', (n) => send('PATCH', `/v1/jobs/${job}`, `{"result":{"a":${n}}}`)],
  ])('is refused in %s; other numbers are accepted', async (_, sent) => {
    for (const number of ['9007199254740993', '0.1000000000000000055']) {
      const { status, body } = await sent(number);
      expect([status, body.code, body.error]).toEqual([422, 'invalid_request', expect.stringContaining(number)]);
    }
    expect([200, 201]).toContain((await sent('-9007199254740992')).status);
  });

  it('is text in CSV, like every cell', async () => {
    const { body } = await send('POST', below('/datasets'), 'input,expected\n9007199254740993,0.10\n', 'text/csv');
    expect(body.records).toMatchObject([{ input: '9007199254740993', expected: '0.10' }]);
  });
});

describe('an answer', () => {
  it('of the API is never cached, never 304, and has the security headers', async () => {
    const created = await app.post('/v1/projects', admin.token, { name: 'A project', spec: {} });
    const { status, headers } = await app.call('GET', `/v1/projects/${created.body.id}`, {
      token: admin.token,
      headers: { 'If-None-Match': created.headers.get('etag') as string },
    });
    expect(status).toBe(200);
    expect(headers.get('etag')).toBe('"1"');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.has('x-powered-by')).toBe(false);
  });

  it('to HEAD has the headers of GET and no body', async () => {
    const get = await app.get('/v1/auth/me', admin.token);
    const head = await app.call('HEAD', '/v1/auth/me', { token: admin.token });
    expect(head).toMatchObject({ status: 200, body: '' });
    for (const name of ['content-type', 'content-length']) expect(head.headers.get(name)).toBe(get.headers.get(name));
  });

  it('at / is the console for people', async () => {
    const { status, headers, body } = await app.get('/');
    expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type: 'text/html; charset=utf-8' });
    expect(body).toMatch(/"pages\/console-\w+\.js"/);
  });

  it('is logged with its request id, and an unexpected failure with its cause', async () => {
    const called = async (path: string, id: string) => {
      const answer = await app.call('GET', path, { headers: { 'X-Request-Id': id } });
      return { answer, lines: app.logger.lines.filter(({ fields }) => fields?.request_id === id) };
    };
    const logged = (fields: object, level = 'info') =>
      expect.objectContaining({ level, event: 'request', fields: expect.objectContaining(fields) });
    const { lines } = await called('/v1/nothing', 'mine-1');
    expect(lines).toEqual([logged({ path: '/v1/nothing', status: 404 })]);
    const page = (await app.get('/')).body as string;
    const file = { path: `/${/pages\/icon-\w+\.svg/.exec(page)?.[0]}`, status: 200 };
    expect((await called(file.path, 'file-1')).lines).toEqual([logged(file, 'debug')]);
    expect((await called('/pages/no.svg', 'file-2')).lines).toEqual([logged({ path: '/pages/no.svg', status: 404 })]);
    const count = jest.spyOn(app.store.accounts, 'count').mockRejectedValue(new Error('planted'));
    const planted = await called('/v1/auth/status', 'mine-2');
    expect(planted.answer).toMatchObject({ status: 500, body: { code: 'internal_error', request_id: 'mine-2' } });
    expect(JSON.stringify(planted.answer.body)).not.toContain('planted');
    const failure = expect.objectContaining({ level: 'error', event: 'unexpected failure' });
    expect(planted.lines).toEqual([failure, logged({ status: 500 })]);
    count.mockRejectedValue(new InvalidRequest([{ path: 'x', message: 1n as unknown as string }])); // cannot be JSON
    const { answer } = await called('/v1/auth/status', 'mine-3');
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    expect(Object.keys(answer.body)).toEqual(['status', 'code', 'error', 'request_id']);
    count.mockRestore();
  });
});
