import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FLOAT, onnxFile } from '../support/onnx/onnx-graph.js';
import { untilGone } from '../support/processes.js';
import { Service, temporaryFolder } from '../support/service.js';
import { until as eventually } from '../support/until.js';
import { register } from '../support/workspace.js';

const path = '/v1/deployments';

const doubling = onnxFile({
  inputs: [['x', FLOAT, ['n', 2]]],
  outputs: [['y', FLOAT, ['n', 2]]],
  nodes: [{ op: 'Add', inputs: ['x', 'x'], outputs: ['y'] }],
});

interface Deployed {
  readonly id: string;
  readonly port: number;
  readonly url: string;
}

describe('the processes of deployments', () => {
  let folder: string;
  let service: Service;
  let token: string;
  let killed = false;
  let env: Record<string, string>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const models = join(folder, 'models folder');
    await mkdir(models);
    await writeFile(join(models, 'doubling.onnx'), doubling);
    await writeFile(join(models, 'short-lived.onnx'), doubling);
    env = { SERVICE_MODELS_DIR: models };
    service = await Service.start({ env });
    token = (await register(service, 'Ada')).token;
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    if (killed) return;
    const { body } = await service.get(path, token);
    await Promise.all(body.deployments.map(({ id }: { id: string }) => service.delete(`${path}/${id}`, token)));
  });

  const deploy = async (model_path = 'doubling.onnx', at = service) => {
    const { status, body } = await at.post(path, token, { name: model_path, model_path });
    expect({ status, error: body.error }).toEqual({ status: 201, error: undefined });
    return body as Deployed;
  };
  const read = async (id: string, at = service) => (await at.get(`${path}/${id}`, token)).body;
  const until = async (status: string, id: string, at = service) => {
    let deployment = await read(id, at);
    await eventually(`${id} is ${status}`, async () => {
      deployment = await read(id, at);
      return deployment.status === status;
    });
    return deployment;
  };
  const predict = (id: string, inputs: object, at = service) => at.post(`${path}/${id}/predict`, token, { inputs });

  /** Returns the log line of the start of a deployment's latest process. */
  const startOf = (id: string, at = service) => {
    const started = at.errors.split('\n').filter((line) => line.includes('deployment process started'));
    return started.map((line) => JSON.parse(line)).findLast(({ deployment }) => deployment === id);
  };
  const pidOf = (id: string, at = service): number => startOf(id, at).pid;

  async function answersAlike({ id, url }: Deployed): Promise<void> {
    const inputs = { x: [[1, 2]] };
    const through = await predict(id, inputs);
    expect(through).toMatchObject({ status: 200, body: { outputs: { y: { data: [2, 4], shape: [1, 2] } } } });
    const json = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ inputs }) };
    expect(await (await fetch(`${url}/predict`, json)).json()).toMatchObject({ outputs: through.body.outputs });
    const refused = await predict(id, { z: [[1, 2]] });
    expect(refused).toMatchObject({ status: 422, body: { code: 'invalid_request', status: 'error' } });
    expect(refused.body.request_id).toBe(refused.headers.get('x-request-id'));
    // A process outlives the request that has started it.
    expect(startOf(id)).not.toHaveProperty('request_id');
  }

  it('come ten at once on ten ports and answer there as through the service; ten that hang are found out and deleted all at once', async () => {
    const ten = await Promise.all(Array.from({ length: 10 }, () => deploy()));
    expect(new Set(ten.map(({ port }) => port)).size).toBe(10);
    await answersAlike(ten[0] as Deployed);
    const pids = ten.map(({ id }) => pidOf(id));
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const begun = performance.now();
    const { body } = await service.get(path, token);
    // A second for each would be ten, and three for the end of each thirty.
    expect(performance.now() - begun).toBeLessThan(9_000);
    expect(body.deployments.map(({ status }: { status: string }) => status)).toEqual(Array(10).fill('unhealthy'));
    const deleting = performance.now();
    const deleted = await Promise.all(ten.map(({ id }) => service.delete(`${path}/${id}`, token)));
    expect(deleted.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(performance.now() - deleting).toBeLessThan(20_000);
    await untilGone(pids);
  });

  // The last one: it ends the service.
  it('end with the service, however it ends, and come back with it', async () => {
    const doomed = service;
    const { id } = await deploy();
    const { id: broken } = await deploy('short-lived.onnx');
    const pids = [id, broken].map((one) => pidOf(one, doomed));
    // A stopped process cannot see that its parent is gone; with setpriv the kernel ends it all the same.
    if (existsSync('/usr/bin/setpriv')) process.kill(pids[0] as number, 'SIGSTOP');
    killed = true;
    await doomed.kill();
    await untilGone(pids);

    await rm(join(env.SERVICE_MODELS_DIR as string, 'short-lived.onnx'));
    const { databaseUrl, dataDir } = doomed;
    const next = await Service.start({ env, databaseUrl, dataDir });
    await until('running', id, next);
    expect((await predict(id, { x: [[1, 2]] }, next)).status).toBe(200);
    const looping = await until('crash_looping', broken, next);
    expect(looping).toMatchObject({ reason: expect.stringContaining('no such file') });
    const pid = pidOf(id, next);
    expect(await next.stop()).toBe(0);
    await untilGone([pid]);
  });
});
