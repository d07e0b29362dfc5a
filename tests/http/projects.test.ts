import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Starter } from '../../src/domain/workspace/starter.js';
import { createProject, type Member } from '../support/workspace.js';
import { invalid, stale } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const projects = '/v1/projects';

let app: TestApp;
let admin: Member;
let developer: Member;
let member: Member;
let stranger: Member;
beforeAll(async () => {
  ({ app, admin, developer, member, stranger } = await TestApp.withTeam());
});
afterAll(() => app.stop());

describe('projects', () => {
  it('are listed only to their team, also if another team has newer ones', async () => {
    const own = await createProject(app, admin.token);
    const theirs = [await createProject(app, stranger.token), await createProject(app, stranger.token)].reverse();
    const listed = async (token: string) => {
      const { body: list } = await app.get(`${projects}?limit=2`, token);
      const { body: status } = await app.get('/v1/status', token);
      const ids = list.projects.map(({ id }: { id: string }) => id);
      return [ids, status.runtimes.map(({ project_id }: { project_id: string }) => project_id)];
    };
    expect(await listed(stranger.token)).toEqual([theirs, theirs]);
    for (const ids of await listed(admin.token)) expect(ids[0]).toBe(own);
  });

  it('are found with their datasets and models by a part of a name, only by their team', async () => {
    const post = async (path: string, token: string, json: object) => (await app.post(path, token, json)).body.id;
    const one = await post(projects, admin.token, { name: 'Findable Größe' });
    const two = await post(projects, admin.token, { name: 'Elsewhere' });
    await post(projects, stranger.token, { name: 'Findable, too' });
    const records = [{ input: 'a', expected: 'b' }];
    const dataset = await post(`${projects}/${two}/datasets`, admin.token, { name: 'to be FINDABLE', records });
    await post(`${projects}/${two}/datasets`, admin.token, { name: 'other', records });
    const drafted = (spec: object) =>
      post(`${projects}/${two}/models`, admin.token, { request_id: crypto.randomUUID(), spec });
    const model = await drafted({ path: 'a.onnx', model: 'findable-1b' });
    await drafted({ path: 'b.onnx' });
    await drafted({});

    const named = async (path: string, token = member.token) => {
      const [list] = Object.values((await app.get(`${path}?q=findable`, token)).body) as { id: string }[][];
      return list?.map(({ id }) => id);
    };
    expect(await named(projects)).toEqual([one]);
    expect(await named(`${projects}/${two}/datasets`)).toEqual([dataset]);
    expect(await named(`${projects}/${two}/models`)).toEqual([model]);
    const { body } = await app.get('/v1/search?q=findable', member.token);
    const [inOne, inTwo] = [
      { project_id: one, project_name: 'Findable Größe' },
      { project_id: two, project_name: 'Elsewhere' },
    ];
    expect(body).toEqual({
      found: [
        { kind: 'project', id: one, name: 'Findable Größe', ...inOne },
        { kind: 'dataset', id: dataset, name: 'to be FINDABLE', ...inTwo },
        { kind: 'model', id: model, name: 'findable-1b', ...inTwo },
      ],
      count: 3,
    });
    expect((await app.get('/v1/search?q=GR%C3%96', member.token)).body.found).toMatchObject([{ id: one }]);
    expect(await app.get('/v1/search', member.token)).toMatchObject(invalid('q'));
    expect(await app.get('/v1/search?q=a&limit=101', member.token)).toMatchObject(invalid('limit'));
    expect(await app.get(`${projects}?q=`, member.token)).toMatchObject(invalid('q'));
  });

  const update = (id: string, json: object) => app.put(`${projects}/${id}`, admin.token, json);

  it.each([
    ['spec', { spec: [] }],
    ['spec.goal', { spec: { goal: 7 } }],
    ['spec.acceptance', { spec: { acceptance: 'high' } }],
    ['spec.acceptance.threshold', { spec: { acceptance: { metric: 'exact', threshold: '0.9' } } }],
    ['spec.acceptance.field', { spec: { acceptance: { field: ['a'] } } }],
    ['spec.record.days', { spec: { record: { days: 0 } } }],
    ['spec.record.mask.0', { spec: { record: { mask: ['name'] } } }],
    ['spec.record.mask.1.pattern', { spec: { record: { mask: ['ip', { name: 'own', pattern: '(a)\\1' }] } } }],
    ['spec.response_format', { spec: { response_format: 'json' } }],
    ['spec.response_format.type', { spec: { response_format: { type: 'xml' } } }],
    ['spec.response_format.json_schema', { spec: { response_format: { type: 'json_schema' } } }],
    [
      'spec.response_format.json_schema.name',
      { spec: { response_format: { type: 'json_schema', json_schema: { name: '', schema: {} } } } },
    ],
    ['name', { spec: {}, name: '' }],
    ['name', { spec: {}, name: 'a'.repeat(201) }],
  ])('refuse an update with a bad %s, before they check its version (%#)', async (path, json) => {
    const id = await createProject(app, admin.token);
    expect(await update(id, { version: 9, ...json })).toMatchObject(invalid(path));
    expect((await app.get(`${projects}/${id}`, admin.token)).body.version).toBe(1);
  });

  it('store a large spec and return it unchanged', async () => {
    const spec = { text: 'ä'.repeat(100_000), order: { z: 1, a: 2 }, big: 1e300, small: -0.1 };
    const { body, status } = await app.post(projects, admin.token, { spec });
    expect(status).toBe(201);
    expect(JSON.stringify(body.spec)).toBe(JSON.stringify(spec));
  });

  it('are listed in pages on request', async () => {
    const [first, second] = [await createProject(app, admin.token), await createProject(app, admin.token)];
    const page = (await app.get(`${projects}?limit=1`, admin.token)).body;
    expect(page).toMatchObject({ projects: [{ id: second }], count: 1, next_cursor: second });
    const next = (await app.get(`${projects}?limit=1&cursor=${page.next_cursor}`, admin.token)).body;
    expect(next).toMatchObject({ projects: [{ id: first }], count: 1, next_cursor: first });
  });

  it('keep every version, with its author and time', async () => {
    const id = await createProject(app, admin.token, { goal: 'one' });
    await app.put(`${projects}/${id}`, developer.token, { version: 1, name: 'Two', spec: { goal: 'two' } });
    await update(id, { version: 1, spec: { goal: 'lost' } });
    await update(id, { version: 2, spec: {} });
    const { body } = await app.get(`${projects}/${id}/versions`, member.token);
    expect(body).toEqual({
      versions: [
        { version: 3, name: 'Two', created_at: expect.any(Number), created_by: admin.id },
        { version: 2, name: 'Two', created_at: expect.any(Number), created_by: developer.id },
        { version: 1, name: 'Capitals', created_at: expect.any(Number), created_by: admin.id },
      ],
      count: 3,
      next_cursor: null,
    });
    const page = (await app.get(`${projects}/${id}/versions?limit=2`, member.token)).body;
    expect(page).toEqual({ versions: body.versions.slice(0, 2), count: 2, next_cursor: '2' });
    const rest = (await app.get(`${projects}/${id}/versions?cursor=2`, member.token)).body;
    expect(rest.versions).toEqual(body.versions.slice(2));
    const second = await app.get(`${projects}/${id}/versions/2`, member.token);
    expect(second.body).toEqual({ ...body.versions[1], id, spec: { goal: 'two' } });
  });
});

describe('the review of a project', () => {
  const plan = (id: string, json: object = { version: 1 }) => app.post(`${projects}/${id}/plan`, admin.token, json);
  const codes = async (id: string, version = 1) =>
    (await plan(id, { version })).body.findings.map(
      (one: { level: string; code: string }) => `${one.level} ${one.code}`,
    );
  const statusOf = async (id: string) => {
    const { status, reviewed_version, version } = (await app.get(`${projects}/${id}`, admin.token)).body;
    return { status, reviewed_version, version };
  };

  it('blocks a project that cannot work, also if an earlier review found it ready', async () => {
    const id = await createProject(app, admin.token, {});
    expect(await codes(id)).toContain('blocking goal_missing');
    expect(await statusOf(id)).toEqual({ status: 'draft', reviewed_version: null, version: 1 });
    const { body: dataset } = await app.post(`${projects}/${id}/datasets`, admin.token, {
      records: [{ input: 'a', expected: 'b' }],
    });
    const spec = { goal: 'x', dataset_id: dataset.id };
    await app.put(`${projects}/${id}`, admin.token, { version: 1, spec });
    expect((await plan(id, { version: 2 })).body.ready).toBe(true);
    await app.call('DELETE', `${projects}/${id}/datasets/${dataset.id}`, { token: admin.token });
    expect(await codes(id, 2)).toContain('blocking dataset_unknown');
    expect(await statusOf(id)).toEqual({ status: 'draft', reviewed_version: null, version: 2 });
  });

  it('does not accept a dataset of another project', async () => {
    const other = await createProject(app, admin.token);
    const records = [{ input: 'a', expected: 'b' }];
    const { body: dataset } = await app.post(`${projects}/${other}/datasets`, admin.token, { records });
    const id = await createProject(app, admin.token, { goal: 'x', dataset_id: dataset.id });
    expect(await codes(id)).toContain('blocking dataset_unknown');
  });

  it('checks the version that the caller has read, and adds no version', async () => {
    const id = await createProject(app, admin.token, { goal: 'x' });
    expect(await plan(id, { version: 2 })).toMatchObject(stale(1));
    expect(await plan(id, {})).toMatchObject(invalid('version'));
    const headers = { 'If-Match': '"1"' };
    const byHeader = await app.call('POST', `${projects}/${id}/plan`, { token: admin.token, headers });
    expect(byHeader).toMatchObject({ status: 200, body: { version: 1 } });
    const other = { token: admin.token, json: { version: 2 }, headers };
    expect((await app.call('POST', `${projects}/${id}/plan`, other)).status).toBe(409);
    expect(await app.store.projects.versions(id, { limit: 9, before: null })).toHaveLength(1);
    expect((await app.get(`${projects}/${id}`, admin.token)).body.version).toBe(1);
  });
});

describe('starters', () => {
  const folder = join(__dirname, '../../starters');
  const shipped = (id: string): Starter => JSON.parse(readFileSync(join(folder, `${id}.json`), 'utf8'));

  it('are listed for every member of a team, by id, with provenance and records', async () => {
    const { status, body } = await app.get('/v1/project-starters', member.token);
    expect(status).toBe(200);
    const ids = readdirSync(folder).map((name) => name.replace('.json', ''));
    expect(body.starters.map(({ id }: { id: string }) => id)).toEqual(ids.sort());
    expect(body.count).toBe(ids.length);

    const { dataset, ...cities } = shipped('capital-cities');
    const listed = body.starters.find(({ id }: { id: string }) => id === 'capital-cities');
    expect(listed).toEqual({
      ...cities,
      dataset: {
        name: dataset.name,
        record_count: dataset.records.length,
        groups: ['europe', 'asia', 'africa', 'americas'],
        records: dataset.records.map((record) => ({ ...record, fields: {} })),
      },
    });
    expect(Object.keys(listed.provenance)).toEqual(['source', 'author', 'licence', 'date', 'method']);
  });

  it.each([
    ['starter_id', { starter_id: 'capital-cities' }],
    ['starter', { starter: 'capital-cities' }],
    ['both', { starter: 'capital-cities', starter_id: 'capital-cities' }],
  ])('begin a project if the request names them by %s', async (_, json) => {
    const { status, body } = await app.post(projects, admin.token, json);
    const { name, spec } = shipped('capital-cities');
    expect({ status, name: body.name, spec: body.spec }).toEqual({ status: 201, name, spec });
    expect(body).toMatchObject({ status: 'draft', version: 1, created_by: admin.id, models: [] });
    expect((await app.get(`${projects}/${body.id}`, member.token)).body).toEqual(body);
  });

  it('begin a project with its own name; a change of its spec leaves the starter unchanged', async () => {
    const { body } = await app.post(projects, admin.token, { name: 'Ours', starter_id: 'support-triage' });
    expect(body.name).toBe('Ours');
    const spec = { ...body.spec, goal: 'Something else' };
    const update = await app.put(`${projects}/${body.id}`, admin.token, { version: 1, spec });
    expect(update).toMatchObject({ status: 200, body: { spec: { goal: 'Something else' } } });
    const other = await app.post(projects, admin.token, { starter_id: 'support-triage' });
    expect(other.body.spec).toEqual(shipped('support-triage').spec);
  });

  const id = 'capital-cities';
  it.each([
    ['starter_id', { starter_id: 'capitals' }],
    ['starter_id', { starter: 'capitals' }],
    ['starter_id', { starter_id: '__proto__' }],
    ['starter_id', { starter_id: '' }],
    ['starter_id', { starter_id: 7 }],
    ['starter', { starter: 'word-problems', starter_id: id }],
    ['spec', { starter_id: id, spec: {} }],
    ['spec', { starter: id, spec: { goal: 'Mine' } }],
    ['name', { starter_id: id, name: ' ' }],
  ])('are refused with a bad %s (%#)', async (path, json) => {
    expect(await app.post(projects, admin.token, json)).toMatchObject(invalid(path));
  });
});
