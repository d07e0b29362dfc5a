import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { type Answer, note } from '../support/http-caller.js';
import { masterKey } from '../support/monitoring.js';
import { S3Server } from '../support/s3/s3-server.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { type Member, register } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const files = '/v1/model-files';
const shipped = join(__dirname, '../../models/tiny-chat');
const OCTETS = { 'Content-Type': 'application/octet-stream' };
const LIMIT = 8 * 1024 ** 2;

describe('model files', () => {
  const folders = new TemporaryFolder();
  const outside = new TemporaryFolder();
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let models: string;

  beforeAll(async () => {
    models = join(folders.path, 'models');
    mkdirSync(models);
    app = await TestApp.start({
      env: {
        SERVICE_DATA_DIR: folders.path,
        SERVICE_MASTER_KEY: masterKey,
        SERVICE_MODEL_UPLOAD_MB: String(LIMIT / 1024 ** 2),
      },
    });
    admin = await register(app, 'Ada');
    member = await register(app, 'Mia');
  });
  afterAll(async () => {
    await app.stop();
    folders.remove();
    outside.remove();
  });

  const upload = (path: string, raw: string | Uint8Array, token = admin.token) =>
    app.call('PUT', `${files}/${path}`, { token, raw, headers: OCTETS });
  const list = async (query = '', token = member.token) => (await app.get(`${files}${query}`, token)).body;
  const remove = (path: string, token = admin.token) => app.delete(`${files}/${path}`, token);
  const unfinished = () => (existsSync(join(models, '.unfinished')) ? readdirSync(join(models, '.unfinished')) : []);

  /** Begins a request with exactly this path. The test sends the body. */
  function begin(path: string, headers: OutgoingHttpHeaders = {}, method = 'PUT'): ClientRequest {
    const { hostname, port } = new URL(app.url);
    const credential = { Authorization: `Bearer ${admin.token}` };
    const all = { ...credential, ...(method === 'PUT' && OCTETS), ...headers };
    return request({ hostname, port, method, path: `${files}/${path}`, headers: all, agent: false });
  }

  async function answerOf(sent: ClientRequest): Promise<Answer> {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const answer = { status: response.statusCode as number, headers: new Headers(), body: await json(response) };
    note(sent.method, sent.path, answer);
    sent.destroy();
    return answer;
  }

  it('removes a model with more files than a list shows', async () => {
    for (const path of ['onnx/model.onnx', 'config.json', 'tokenizer.json'])
      expect((await upload(`big/${path}`, '{}')).status).toBe(201);
    mkdirSync(join(models, 'big/data'));
    for (let at = 0; at <= 10_000; at++) writeFileSync(join(models, `big/data/${at}`), '');
    expect(await list()).toMatchObject({ truncated: true });
    expect((await remove('big')).status).toBe(200);
    expect(existsSync(join(models, 'big'))).toBe(false);
  });

  it('lists the shipped model for everybody on the team, with any credential', async () => {
    for (const token of [member.token, member.apiKey, masterKey]) {
      const { body, status } = await app.get(files, token);
      expect(status).toBe(200);
      expect(body).toMatchObject({ count: body.model_files.length, next_cursor: null, truncated: false });
      const found = body.model_files.filter(({ path }: { path: string }) => path.startsWith('tiny-chat'));
      expect(found).toMatchObject([
        { path: 'tiny-chat', kind: 'chat_model', writable: false },
        { path: 'tiny-chat/onnx/model.onnx', kind: 'onnx', writable: false },
      ]);
      expect(found[0].size).toBeGreaterThan(found[1].size);
    }
  });

  it('stores, lists, replaces and deletes a file', async () => {
    const content = Buffer.alloc(LIMIT, 'x');
    const created = await upload('deep/my%20model.onnx', content);
    const file = { path: 'deep/my model.onnx', size: LIMIT, kind: 'onnx', writable: true };
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(created).toMatchObject({ status: 201, body: { ...file, sha256 } });
    expect(Math.abs(created.body.modified_at - Date.now() / 1000)).toBeLessThan(60);
    expect((await list()).model_files).toContainEqual({ ...file, modified_at: created.body.modified_at });
    expect(readFileSync(join(models, 'deep/my model.onnx')).equals(content)).toBe(true);

    for (const token of [admin.apiKey, masterKey]) {
      expect(await upload('deep/my%20model.onnx', 'other', token)).toMatchObject({ status: 200, body: { size: 5 } });
    }
    expect(await remove('deep/my%20model.onnx')).toMatchObject({
      status: 200,
      body: { id: 'deep/my model.onnx', deleted: true },
    });
    expect(await remove('deep/my%20model.onnx')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(existsSync(join(models, 'deep'))).toBe(false);
  });

  it('lists files in pages', async () => {
    for (const path of ['page/a', 'page/b', 'page/c.onnx']) await upload(path, 'x');
    const all = (await list()).model_files.map(({ path }: { path: string }) => path);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const more = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await list(`?limit=2${more}`);
      seen.push(...page.model_files.map(({ path }: { path: string }) => path));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(all);
    for (const query of ['?limit=0', '?limit=x', `?cursor=${'x'.repeat(5_000)}`]) {
      expect(await app.get(files + query, admin.token)).toMatchObject({
        status: 422,
        body: { code: 'invalid_request' },
      });
    }
    for (const path of ['page/a', 'page/b', 'page/c.onnx']) await remove(path);
  });

  it('stores a model file by file, and deletes it as a whole', async () => {
    const parts = [
      'config.json',
      'generation_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
      'onnx/model.onnx',
    ];
    for (const part of parts) {
      const { status } = await upload(`mine/brought/${part}`, readFileSync(join(shipped, part)));
      expect({ part, status }).toEqual({ part, status: 201 });
    }
    const found = (await list()).model_files.find(({ path }: { path: string }) => path === 'mine/brought');
    expect(found).toMatchObject({ kind: 'chat_model', writable: true });
    expect(await remove('mine/brought/onnx')).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
    expect(await remove('mine')).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
    expect(await remove('mine/brought')).toMatchObject({ status: 200, body: { id: 'mine/brought' } });
    expect({ models: existsSync(join(models, 'mine')), unfinished: unfinished().length }).toEqual({
      models: false,
      unfinished: 0,
    });
  });

  it('reads encoded slashes as plain ones, and decodes only once', async () => {
    expect(await upload('my-model%2Fdeep/config%2ejson', 'x')).toMatchObject({
      status: 201,
      body: { path: 'my-model/deep/config.json' },
    });
    expect((await upload('my-model/deep%2fconfig.json', 'other')).status).toBe(200);
    expect(readFileSync(join(models, 'my-model/deep/config.json'), 'utf8')).toBe('other');
    expect((await upload('my-model%252Fname', 'x')).body.path).toBe('my-model%2Fname');
    expect(readdirSync(models)).toEqual(expect.arrayContaining(['my-model', 'my-model%2Fname']));
    expect((await remove('my-model%252Fname')).body).toEqual({ id: 'my-model%2Fname', deleted: true });
    const { body } = await remove('my-model%2Fdeep%2Fconfig.json');
    expect(body).toEqual({ id: 'my-model/deep/config.json', deleted: true });
    expect(existsSync(join(models, 'my-model'))).toBe(false);
  });

  const hostile = [
    ['..', 'begins with a dot'],
    ['../secret', 'begins with a dot'],
    ['%2e%2e/secret', 'begins with a dot'],
    ['a/../../secret', 'begins with a dot'],
    ['a/./b', 'begins with a dot'],
    ['.unfinished/x', 'begins with a dot'],
    ['a/.hidden', 'begins with a dot'],
    ['%2e%2e%2fsecret', 'begins with a dot'],
    ['a%2f%2e%2e%2f..%2Fsecret', 'begins with a dot'],
    ['a%2F.hidden', 'begins with a dot'],
    ['%2Fetc%2Fpasswd', 'slash'],
    ['a%2F/b', 'slash'],
    ['a%2F', 'slash'],
    ['a%2f%00', 'control characters'],
    ['%252e%252e%252fsecret%00', 'control characters'],
    ['/etc/passwd', 'slash'],
    ['a//b', 'slash'],
    ['a/', 'slash'],
    ['a%5Cb', 'backslashes'],
    ['..%5Csecret', 'begins with a dot'],
    ['a%00.onnx', 'control characters'],
    ['a%0Ab', 'control characters'],
    ['a%C2%85b', 'control characters'],
    [`a/${'x'.repeat(256)}`, '255 bytes'],
    [`a/${'%C3%A4'.repeat(128)}`, '255 bytes'],
    [Array(9).fill('a').join('/'), '8 parts'],
    [Array(5).fill('x'.repeat(250)).join('/'), '1024 bytes'],
  ] as const;
  it.each(hostile.map((one) => [one[0].slice(0, 40), ...one] as const))('refuses the path %s', async (_, path, why) => {
    for (const method of ['PUT', 'DELETE']) {
      const sent = begin(path, method === 'PUT' ? { 'Content-Length': 1 } : {}, method);
      sent.end(method === 'PUT' ? 'x' : undefined);
      const { status, body } = await answerOf(sent);
      expect({ status, code: body.code, path: body.details?.[0].path }).toEqual({
        status: 422,
        code: 'invalid_request',
        path: 'path',
      });
      expect(body.error).toContain(why);
    }
  });

  it.each(['', '%ff', '%', 'a%c3'])('answers 404 to the path "%s"', async (path) => {
    for (const method of ['PUT', 'DELETE']) {
      const sent = begin(path, {}, method);
      sent.end();
      expect(await answerOf(sent)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });

  it('does not write or delete shipped models, folders, or files behind links out of the folder', async () => {
    symlinkSync(outside.path, join(models, 'out'));
    await upload('folder/x', 'x');
    for (const path of ['tiny-chat', 'tiny-chat/config.json', 'tiny-chat/new', 'folder', 'folder/x/y', 'out/x']) {
      const { status, body } = await upload(path, 'x');
      expect({ path, status, code: body.code }).toEqual({ path, status: 422, code: 'invalid_request' });
      expect(body.details).toEqual([{ path: 'path', message: expect.any(String) }]);
    }
    for (const path of ['tiny-chat', 'tiny-chat/config.json']) expect((await remove(path)).status).toBe(422);
    for (const path of ['out', 'out/x', 'folder/y']) expect((await remove(path)).status).toBe(404);
    expect({ outside: readdirSync(outside.path), shipped: existsSync(join(shipped, 'config.json')) }).toEqual({
      outside: [],
      shipped: true,
    });
    await remove('folder/x');
  });

  it('accepts only application/octet-stream, and no empty file', async () => {
    const types = ['application/json', 'text/plain', 'multipart/form-data; boundary=x', ''];
    for (const headers of [
      ...types.map((type) => ({ 'Content-Type': type })),
      { ...OCTETS, 'Content-Encoding': 'gzip' },
    ]) {
      const answer = await app.call('PUT', `${files}/a.onnx`, { token: admin.token, raw: 'x', headers });
      expect(answer).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
      expect(answer.headers.get('accept')).toBe('application/octet-stream');
    }
    expect(await upload('a.onnx', '')).toMatchObject({ status: 422, body: { code: 'invalid_request' } });
    expect((await list()).model_files.some(({ path }: { path: string }) => path === 'a.onnx')).toBe(false);
  });

  it('accepts a file as large as the limit, and no larger one, with or without a Content-Length', async () => {
    const refused = { status: 413, body: { code: 'payload_too_large', error: expect.stringContaining(String(LIMIT)) } };
    expect((await upload('large.onnx', Buffer.alloc(LIMIT))).status).toBe(201);
    const announced = begin('large.onnx', { 'Content-Length': LIMIT + 1 });
    announced.write('x');
    expect(await answerOf(announced)).toMatchObject(refused);
    const silent = begin('large.onnx', { 'Transfer-Encoding': 'chunked' });
    silent.end(Buffer.alloc(LIMIT + 1));
    expect(await answerOf(silent)).toMatchObject(refused);
    expect((await list()).model_files).toContainEqual(expect.objectContaining({ path: 'large.onnx', size: LIMIT }));
    expect((await remove('large.onnx')).status).toBe(200);
  });

  it('accepts four uploads at once, and leaves nothing of those that are cut off', async () => {
    const sent = ['one', 'two', 'three', 'four'].map((name) => begin(`cut/${name}`, { 'Content-Length': 1_000 }));
    for (const upload of sent) {
      upload.on('error', () => undefined).write('the beginning');
    }
    await until('four uploads have begun', () => unfinished().length === 4);
    const busy = await upload('one-more', 'x');
    expect(busy).toMatchObject({ status: 503, body: { code: 'busy' } });
    expect(busy.headers.get('retry-after')).toBe('5');
    for (const upload of sent) upload.destroy();
    await until('the four uploads are gone', () => unfinished().length === 0);
    expect(existsSync(join(models, 'cut'))).toBe(false);
    expect((await upload('one-more', 'x')).status).toBe(201);
    await remove('one-more');
  });

  it('refuses a body that stalls, and leaves nothing of it', async () => {
    const slow = begin('stalled.onnx', { 'Content-Length': 100 });
    slow.write('the beginning');
    expect(await answerOf(slow)).toMatchObject({ status: 408, body: { code: 'request_timeout' } });
    await until('nothing of it is left', () => unfinished().length === 0);
    expect(existsSync(join(models, 'stalled.onnx'))).toBe(false);
  });
});

describe('model files in a bucket', () => {
  let store: S3Server;
  let app: TestApp;
  beforeAll(async () => {
    store = await S3Server.start();
    app = await TestApp.start({ env: { ...store.env, SERVICE_MASTER_KEY: masterKey } });
  });
  afterAll(async () => {
    await app.stop();
    await store.stop();
  });

  const upload = (path: string, raw: string) =>
    app.call('PUT', `${files}/${path}`, { token: masterKey, raw, headers: OCTETS });
  const uploaded = async () => {
    const { body } = await app.get(files, masterKey);
    return body.model_files.filter(({ writable }: { writable: boolean }) => writable);
  };

  it('can be stored and deleted, and the shipped files stay', async () => {
    const sha256 = createHash('sha256').update('a model').digest('hex');
    const file = { path: 'mine/model.onnx', size: 7, kind: 'onnx', writable: true };
    expect(await upload('mine/model.onnx', 'a model')).toMatchObject({ status: 201, body: { ...file, sha256 } });
    expect((await upload('mine/model.onnx', 'b model')).status).toBe(200);
    expect(await uploaded()).toMatchObject([file]);
    expect((await upload('tiny-chat/x', 'x')).status).toBe(422);
    expect((await app.delete(`${files}/mine/model.onnx`, masterKey)).status).toBe(200);
    expect((await app.delete(`${files}/mine/model.onnx`, masterKey)).status).toBe(404);
    const { body } = await app.get(files, masterKey);
    expect(body.model_files).toContainEqual(expect.objectContaining({ path: 'tiny-chat', writable: false }));
  });

  it('leave nothing behind when the caller disconnects during an upload', async () => {
    const { hostname, port } = new URL(app.url);
    const credential = { Authorization: `Bearer ${masterKey}`, 'Content-Length': 20 * 1024 ** 2 };
    const path = `${files}/cut.onnx`;
    const sent = request({ hostname, port, method: 'PUT', path, headers: { ...OCTETS, ...credential } });
    sent.on('error', () => undefined).write(Buffer.alloc(10 * 1024 ** 2));
    await until('the first part is there', () => store.unfinished === 1);
    sent.destroy();
    await until('the first part is gone', () => store.unfinished === 0);
    expect(await uploaded()).toEqual([]);
  });

  it('are answered with 503 and a Retry-After while the store cannot be reached', async () => {
    await store.away();
    const answers = [await app.get(files, masterKey), await upload('x.onnx', 'x')];
    answers.push(await app.delete(`${files}/x.onnx`, masterKey));
    const body = { name: 'x', model_path: 'x.onnx' };
    answers.push(await app.call('POST', '/v1/deployments', { token: masterKey, json: body }));
    for (const answer of answers) {
      const error = expect.stringContaining('the model store is out of reach');
      expect(answer).toMatchObject({ status: 503, body: { code: 'storage_unavailable', error } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await store.back();
    expect((await upload('x.onnx', 'x')).status).toBe(201);
  });
});
