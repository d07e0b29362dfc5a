import { randomUUID } from 'node:crypto';
import { query } from '../support/database.js';
import { ended } from '../support/evaluations.js';
import { Service } from '../support/service.js';
import { createProject, type Member, moveToOwnTeam, register, untilState } from '../support/workspace.js';

const projects = '/v1/projects';

describe('the review of a project', () => {
  let service: Service;
  let admin: Member;
  let stranger: Member;

  beforeAll(async () => {
    service = await Service.start();
    admin = await register(service, 'Ada');
    stranger = await register(service, 'Eve');
    await moveToOwnTeam(service.databaseUrl as string, stranger.id);
  });
  afterAll(() => service.stop());

  const plan = (id: string, json: object = { version: 1 }) => service.post(`${projects}/${id}/plan`, admin.token, json);
  const codes = async (id: string, version = 1) =>
    (await plan(id, { version })).body.findings.map(
      (one: { level: string; code: string }) => `${one.level} ${one.code}`,
    );
  const statusOf = async (id: string) => {
    const { status, reviewed_version, version } = (await service.get(`${projects}/${id}`, admin.token)).body;
    return { status, reviewed_version, version };
  };

  it('leads from a starter to a project in which nothing is missing, step by step', async () => {
    const created = await service.post(projects, admin.token, { starter_id: 'capital-cities' });
    const { id, spec } = created.body;
    const first = await plan(id);
    expect(first).toMatchObject({ status: 200, body: { project_id: id, version: 1, ready: true } });
    expect(first.body.findings.map((one: { code: string }) => one.code)).toEqual(['dataset_missing', 'model_missing']);
    expect((await plan(id)).body).toEqual(first.body);
    expect(await statusOf(id)).toEqual({ status: 'reviewed', reviewed_version: 1, version: 1 });

    const datasets = `${projects}/${id}/datasets`;
    const dataset = (await service.post(datasets, admin.token, { starter_id: 'capital-cities' })).body;
    await service.put(`${projects}/${id}`, admin.token, { version: 1, spec: { ...spec, dataset_id: dataset.id } });
    expect(await statusOf(id)).toEqual({ status: 'draft', reviewed_version: 1, version: 2 });
    expect(await codes(id, 2)).toEqual(['warning dataset_editable', 'warning model_missing']);
    await service.post(`${datasets}/${dataset.id}/freeze`, admin.token);
    expect(await codes(id, 2)).toEqual(['warning model_missing']);

    const models = `${projects}/${id}/models`;
    const model = { request_id: randomUUID(), spec: { runtime: 'onnx', path: 'tiny-chat' } };
    const draft = (await service.post(models, admin.token, model)).body;
    expect(await codes(id, 2)).toEqual(['warning model_unregistered']);
    await service.post(`${models}/${draft.id}/register`, admin.token, { version: 1 });
    expect(await codes(id, 2)).toEqual(['warning runtime_not_connected']);
    await service.put(`${projects}/${id}/runtime`, admin.token, { model_id: draft.id });
    expect(await codes(id, 2)).toEqual(['warning runtime_stopped']);
    await service.post(`${projects}/${id}/runtime/start`, admin.token);
    await untilState(service, admin.token, id, 'ready');
    const last = (await plan(id, { version: 2 })).body;
    expect(last).toMatchObject({
      ready: true,
      findings: [{ level: 'info', code: 'evaluation_missing' }],
      next_steps: [expect.stringContaining('POST /v1/jobs')],
    });

    await query(service.databaseUrl as string, 'UPDATE accounts SET email_verified_at = now()');
    const asked = { kind: 'evaluation', project_id: id, dataset_id: dataset.id };
    const { body: job } = await service.post('/v1/jobs', admin.token, asked);
    const { result } = await ended(service, admin.token, job.id);
    expect(result.accuracy).toBeGreaterThan(0.9);
    expect((await plan(id, { version: 2 })).body).toMatchObject({
      ready: true,
      findings: [
        { level: 'info', code: 'acceptance_met', message: expect.stringContaining(`of ${result.count} records`) },
      ],
      next_steps: [expect.stringContaining('/chat/completions')],
    });
    expect(await statusOf(id)).toEqual({ status: 'reviewed', reviewed_version: 2, version: 2 });
  });

  it('blocks what cannot work, and takes back what it found before', async () => {
    const id = await createProject(service, admin.token, {});
    expect(await codes(id)).toContain('blocking goal_missing');
    expect(await statusOf(id)).toEqual({ status: 'draft', reviewed_version: null, version: 1 });
    const { body: dataset } = await service.post(`${projects}/${id}/datasets`, admin.token, {
      records: [{ input: 'a', expected: 'b' }],
    });
    const spec = { goal: 'x', dataset_id: dataset.id };
    await service.put(`${projects}/${id}`, admin.token, { version: 1, spec });
    expect((await plan(id, { version: 2 })).body.ready).toBe(true);
    await service.call('DELETE', `${projects}/${id}/datasets/${dataset.id}`, { token: admin.token });
    expect(await codes(id, 2)).toContain('blocking dataset_unknown');
    expect(await statusOf(id)).toEqual({ status: 'draft', reviewed_version: null, version: 2 });
  });

  it('knows no dataset of another project', async () => {
    const other = await createProject(service, admin.token);
    const records = [{ input: 'a', expected: 'b' }];
    const { body: dataset } = await service.post(`${projects}/${other}/datasets`, admin.token, { records });
    const id = await createProject(service, admin.token, { goal: 'x', dataset_id: dataset.id });
    expect(await codes(id)).toContain('blocking dataset_unknown');
  });

  it('is of the version that the caller has read', async () => {
    const id = await createProject(service, admin.token, { goal: 'x' });
    expect(await plan(id, { version: 2 })).toMatchObject({
      status: 409,
      body: { code: 'stale_version', details: [{ current: 1 }] },
    });
    expect(await plan(id, {})).toMatchObject({ status: 422, body: { details: [{ path: 'version' }] } });
    const headers = { 'If-Match': '"1"' };
    const byHeader = await service.call('POST', `${projects}/${id}/plan`, { token: admin.token, headers });
    expect(byHeader).toMatchObject({ status: 200, body: { version: 1 } });
    const other = { token: admin.token, json: { version: 2 }, headers };
    expect((await service.call('POST', `${projects}/${id}/plan`, other)).status).toBe(409);
    const foreign = await service.post(`${projects}/${id}/plan`, stranger.token, { version: 9 });
    expect(foreign).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('leaves the version and the history as they are', async () => {
    const id = await createProject(service, admin.token, { goal: 'x' });
    await plan(id);
    const [row] = await query<{ n: number }>(
      service.databaseUrl as string,
      'SELECT count(*)::int AS n FROM project_versions WHERE project_id = $1',
      [id],
    );
    expect(row?.n).toBe(1);
    expect((await service.get(`${projects}/${id}`, admin.token)).body.version).toBe(1);
  });
});
