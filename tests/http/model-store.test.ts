import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { masterKey } from '../support/monitoring.js';
import { S3Server } from '../support/s3/s3-server.js';
import { until } from '../support/until.js';
import { TestApp } from './support/test-app.js';

const files = '/v1/model-files';
const headers = { 'Content-Type': 'application/octet-stream' };

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

  const upload = (path: string, raw: string) => app.call('PUT', `${files}/${path}`, { token: masterKey, raw, headers });
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
    const sent = request({ hostname, port, method: 'PUT', path, headers: { ...headers, ...credential } });
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
