import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { ModelServer } from '../../src/application/deployments/ports.js';
import { RuntimeUnavailable } from '../../src/domain/chat/errors.js';
import { StorageUnavailable } from '../../src/domain/shared/errors.js';
import { bodyLimits } from '../../src/interfaces/http/body.js';
import { HttpCaller } from '../support/http-caller.js';
import { LocalModelServerRig } from '../support/model-server/local-model-server-rig.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { type Member, register } from '../support/workspace.js';
import { invalid, refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const path = '/v1/deployments';
const temporary = new TemporaryFolder();
afterAll(() => temporary.remove());

describe('deployments', () => {
  let rig: LocalModelServerRig;
  let app: TestApp;
  let admin: Member;
  let member: Member;
  /** Names a deployment that several tests share. */
  let shared: string | null = null;

  beforeAll(async () => {
    rig = new LocalModelServerRig(join(temporary.path, 'models'), { bodyLimit: bodyLimits.prediction });
    for (const word of ['fine', 'mute', 'garbage']) rig.model(word);
    app = await TestApp.start({
      adapt: (container) => container.rebind(ModelServer).toConstantValue(rig.servers),
    });
    admin = await register(app, 'Ada');
    member = await register(app, 'Mia');
  });
  afterAll(() => app.stop());
  afterEach(async () => {
    const { body } = await app.get(path, admin.token);
    const own = body.deployments.filter(({ id }: { id: string }) => id !== shared);
    await Promise.all(own.map(({ id }: { id: string }) => app.delete(`${path}/${id}`, admin.token)));
  });

  const create = (over: object = {}, token = admin.token) =>
    app.post(path, token, { name: 'iris', model_path: 'fine.onnx', ...over });
  const created = async (over: object = {}) => {
    const { status, body } = await create(over);
    expect(status).toBe(201);
    return body;
  };
  const predict = (id: string, action: string, token = admin.apiKey) =>
    app.post(`${path}/${id}/predict`, token, { do: action });

  it('are created, read, listed, called and deleted', async () => {
    const body = await created({ name: ' Iris of München ', model_path: './fine.onnx' });
    expect(body).toEqual({
      id: expect.stringMatching(/^dep_/),
      name: 'Iris of München',
      model_path: './fine.onnx',
      port: expect.any(Number),
      url: `http://127.0.0.1:${body.port}`,
      status: 'running',
      created_at: expect.any(Number),
      reason: null,
      restarts: 0,
      instance: expect.any(String),
      max_batch: null,
      max_delay_ms: null,
      kind: 'local',
      endpoint: null,
      model_name: null,
      model_version: null,
      key_setting: null,
      prices: null,
    });
    expect((await fetch(`${body.url}/health`)).status).toBe(200);
    expect(await app.get(`${path}/${body.id}`, admin.token)).toMatchObject({ status: 200, body });
    const batched = await created({ name: 'batched', max_batch: 8 });
    expect(batched).toMatchObject({ max_batch: 8, max_delay_ms: 5 });
    expect((await app.get(path, admin.token)).body).toEqual({ deployments: [batched, body], count: 2 });
    const answer = await predict(body.id, 'echo');
    expect(answer).toMatchObject({ status: 200, body: { outputs: { y: { data: [13] } }, given: '13' } });
    const logs = await app.get(`${path}/${batched.id}/logs`, admin.token);
    expect(logs.body).toEqual({ lines: ['serving batched from fine.onnx'], count: 1 });
    expect((await app.delete(`${path}/${body.id}`, admin.token)).body).toEqual({ id: body.id, deleted: true });
    await expect(fetch(`${body.url}/health`)).rejects.toThrow();
    expect((await app.get(path, admin.token)).body).toEqual({ deployments: [batched], count: 1 });
    for (const below of ['', '/logs'])
      expect((await app.get(`${path}/${body.id}${below}`, admin.token)).status).toBe(404);
    expect((await predict(body.id, 'echo')).status).toBe(404);
    expect((await app.delete(`${path}/${body.id}`, admin.token)).status).toBe(404);
  });

  it.each([
    ['name', { name: '   ' }],
    ['name', { name: '\u{1F600}'.repeat(101) }],
    ['model_path', { model_path: '' }],
    ['model_path', { model_path: 'x'.repeat(1_025) }],
    ['max_batch', { max_batch: 1 }],
    ['max_batch', { max_batch: 1_025 }],
    ['max_delay_ms', { max_batch: 2, max_delay_ms: -1 }],
    ['max_delay_ms', { max_batch: 2, max_delay_ms: 1_001 }],
    ['max_delay_ms', { max_delay_ms: 5 }],
  ])('are refused with a bad %s (%#)', async (at, over) => {
    expect(await create(over)).toMatchObject(invalid(at));
  });

  it('leave nothing behind if the file cannot be served', async () => {
    const reasons = {
      'missing.onnx': 'no such file',
      '../x.onnx': '`..` segment',
      '.': 'outside',
      'garbage.onnx': 'Protobuf',
    };
    for (const [model_path, reason] of Object.entries(reasons)) {
      const answer = await create({ model_path });
      expect(answer).toMatchObject(refusal(422, 'model_file_invalid'));
      expect(answer.body.error).toContain(reason);
      expect(answer.body.error).not.toContain(temporary.path);
    }
    expect((await app.get(path, admin.token)).body.count).toBe(0);
    expect(rig.processes()).toEqual([]);
  });

  it('leave nothing behind if they cannot be stored', async () => {
    jest.spyOn(app.store.deployments, 'add').mockRejectedValueOnce(new StorageUnavailable());
    expect((await create()).status).toBe(503);
    expect(rig.processes()).toEqual([]);
  });

  it('leave nothing behind if the caller disconnects during the creation', async () => {
    const leaving = new AbortController();
    const before = rig.pids().length;
    const call = new HttpCaller(app.url).call('POST', path, {
      token: admin.token,
      json: { name: 'x', model_path: 'mute.onnx' },
      signal: leaving.signal,
    });
    call.catch(() => undefined);
    while (rig.pids().length === before) await rig.log.news();
    leaving.abort();
    await rig.log.saw('deployment process ended', before + 1);
    expect((await app.get(path, admin.token)).body.count).toBe(0);
    expect(rig.processes()).toEqual([]);
  });

  describe('asked to predict', () => {
    let id: string;
    beforeAll(async () => {
      ({ id } = await created());
      shared = id;
    });
    afterAll(async () => {
      shared = null;
      await app.delete(`${path}/${id}`, admin.token);
    });

    it('pass on refusals of the process, with the id of the request', async () => {
      const at = `${path}/${id}/predict`;
      const call = (raw: string) =>
        app.call('POST', at, { token: admin.apiKey, raw, headers: { 'X-Request-Id': 'mine' } });
      expect(await call('{"do":"refuse"}')).toMatchObject({
        status: 422,
        body: { code: 'invalid_request', request_id: 'mine' },
      });
      expect(await call('{')).toMatchObject({ status: 400, body: { code: 'malformed_json', request_id: 'mine' } });
      const busy = await call('{"do":"busy"}');
      expect(busy).toMatchObject(refusal(429, 'model_busy'));
      expect(busy.headers.get('retry-after')).toBe('1');
    });

    it('stream a large body and a large answer', async () => {
      const raw = `{"do":"large","outputs":{},"x":"${'x'.repeat(1_000_000)}"}`;
      const answer = await app.call('POST', `${path}/${id}/predict`, { token: admin.apiKey, raw });
      expect(answer).toMatchObject({ status: 200, body: { do: 'large' } });
      expect(answer.body.x.length).toBe(1_000_000);
    });

    it('accept a body without a Content-Length, up to the limit', async () => {
      const { id } = await created(); // its process ends when a body breaks off
      const send = async (bytes: number) => {
        const headers = { Authorization: `Bearer ${admin.apiKey}`, 'Content-Type': 'application/json' };
        const sent = request(`${app.url}${path}/${id}/predict`, { method: 'POST', headers });
        sent.on('error', () => undefined);
        const answered = once(sent, 'response');
        const piece = Buffer.alloc(1024 ** 2, ' ');
        for (let left = bytes; left > 0; left -= piece.length) {
          if (!sent.write(piece.subarray(0, left))) await Promise.race([once(sent, 'drain'), answered]);
        }
        sent.end('{}');
        const [response] = await answered;
        let text = '';
        for await (const chunk of response) text += chunk;
        return { status: response.statusCode, body: JSON.parse(text) };
      };
      const body = { outputs: { y: { data: [5_002] } }, given: null };
      expect(await send(5_000)).toMatchObject({ status: 200, body });
      expect(await send(bodyLimits.prediction)).toMatchObject(refusal(413, 'payload_too_large'));
    });
  });

  it('show the latest lines of their output', async () => {
    rig.model('wordy');
    const { id } = await created({ model_path: 'wordy.onnx' });
    const logs = (query: string) => app.get(`${path}/${id}/logs${query}`, member.token);
    const { body } = await logs('?tail=3');
    expect(body).toEqual({ lines: ['line 998', 'line 999', 'serving iris from wordy.onnx'], count: 3 });
    expect((await logs('')).body.count).toBe(200);
    expect((await logs('?tail=10000')).body.count).toBeGreaterThan(1_000);
    for (const tail of ['10001', '99999999999999999999'])
      expect((await logs(`?tail=${tail}`)).body).toEqual((await logs('?tail=10000')).body);
    for (const tail of ['0', '-1', 'abc', '1.5', ''])
      expect(await logs(`?tail=${tail}`)).toMatchObject(invalid('tail'));
  });

  it('are refused if their process starts too slowly', async () => {
    jest.spyOn(rig.servers, 'start').mockRejectedValueOnce(new RuntimeUnavailable('it takes too long'));
    expect(await create()).toMatchObject(refusal(503, 'runtime_unavailable'));
    expect((await app.get(path, admin.token)).body.count).toBe(0);
  });
});
