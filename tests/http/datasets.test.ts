import { randomUUID } from 'node:crypto';
import type { Dataset } from '../../src/domain/workspace/dataset.js';
import type { Answer } from '../support/http-caller.js';
import { ids } from '../support/records.js';
import { createProject, type Member, register } from '../support/workspace.js';
import { TestApp } from './support/test-app.js';

const record = (id: string, over: object = {}) => ({ id, input: `What is ${id}?`, expected: `It is ${id}.`, ...over });
const answered = (id: string, over: object = {}) => ({ group: null, fields: {}, ...record(id), ...over });
const missing = (id: string) => id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));

describe('datasets', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  let project: string;
  let datasets: string;

  beforeAll(async () => {
    app = await TestApp.start();
    admin = await register(app, 'Ada');
    member = await register(app, 'Mia');
    stranger = await register(app, 'Eve');
    await app.moveToOwnTeam(stranger.id);
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    project = await createProject(app, admin.token);
    datasets = `/v1/projects/${project}/datasets`;
  });

  const imported = async (...records: object[]) => {
    const { status, body } = await app.post(datasets, admin.token, { name: 'Capitals', records });
    expect(status).toBe(201);
    return body;
  };
  const call = (method: string, path: string, json?: object, headers = {}) =>
    app.call(method, `${datasets}/${path}`, { token: admin.token, ...(json && { json }), headers });
  const refused = ({ status, body }: Answer) => `${status} ${body.code}`;

  it('imports records and gives them back, to members too', async () => {
    const made = await app.post(datasets, admin.token, {
      name: ' Capitals ',
      records: [record('fr', { group: 'europe', level: 1 }), { input: 'a' }],
    });
    expect(made.status).toBe(201);
    expect(made.headers.get('etag')).toBe('"1"');
    expect(made.body).toEqual({
      id: expect.stringMatching(/^dst_/),
      project_id: project,
      name: 'Capitals',
      version: 1,
      state: 'editable',
      records: [
        answered('fr', { group: 'europe', fields: { level: 1 } }),
        { id: 'row-2', group: null, input: 'a', expected: null, fields: {} },
      ],
      record_count: 2,
      content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      validation: {
        valid: false,
        findings: [{ code: 'empty_expected', path: 'records.1.expected', message: expect.stringContaining('row 2') }],
      },
      forked_from: null,
      created_by: admin.id,
      created_at: expect.any(Number),
      updated_at: made.body.created_at,
      frozen_at: null,
    });
    const read = await app.get(`${datasets}/${made.body.id}`, member.token);
    expect(read).toMatchObject({ status: 200, body: made.body });
    const { records: _, ...entry } = made.body;
    expect((await app.get(datasets, member.token)).body).toEqual({
      datasets: [entry],
      count: 1,
      next_cursor: null,
    });
  });

  it('imports from records or from a starter, and not from both or neither', async () => {
    for (const json of [{}, { name: 'x' }, { records: [], starter_id: 'x' }, { records: [], starter: 'x' }]) {
      const { status, body } = await app.post(datasets, admin.token, json);
      expect({ json, status, details: body.details }).toEqual({
        json,
        status: 422,
        details: [{ path: '', message: 'must have either starter_id or records' }],
      });
    }
    const two = await app.post(datasets, admin.token, { starter: 'one', starter_id: 'other' });
    expect(two).toMatchObject({ status: 422, body: { details: [{ path: 'starter' }] } });
    const unknown = await app.post(datasets, admin.token, { starter: 'no-such-starter' });
    expect(unknown).toMatchObject({ status: 422, body: { details: [{ path: 'starter_id' }] } });
    const [starter] = (await app.get('/v1/project-starters', admin.token)).body.starters;
    for (const json of [{ starter_id: starter.id }, { starter: starter.id, name: 'Mine' }]) {
      const { status, body } = await app.post(datasets, admin.token, json);
      expect(status).toBe(201);
      expect(body.validation).toEqual({ valid: true, findings: [] });
      expect(body.name).toBe('name' in json ? json.name : starter.dataset.name);
      expect(body.record_count).toBe(starter.dataset.record_count);
    }
    expect((await app.get(datasets, admin.token)).body.count).toBe(2);
  });

  it('has the same content for the same records, whatever their order of keys', async () => {
    const one = await imported({ id: 'a', input: { x: 1, y: 2 }, expected: 1 });
    const other = await imported({ expected: 1, input: { y: 2, x: 1 }, id: 'a' });
    const different = await imported({ id: 'a', input: { x: 1, y: 3 }, expected: 1 });
    expect(other.content_sha256).toBe(one.content_sha256);
    expect(different.content_sha256).not.toBe(one.content_sha256);
  });

  it('updates name, records or both, and keeps every version', async () => {
    const { id, content_sha256 } = await imported(record('a'));
    const renamed = await call('PUT', id, { version: 1, name: 'Renamed' });
    expect(renamed.body).toMatchObject({ version: 2, name: 'Renamed', content_sha256, records: [answered('a')] });
    expect(renamed.headers.get('etag')).toBe('"2"');
    const refilled = await call('PUT', id, { records: [record('b')] }, { 'If-Match': '"2"' });
    expect(refilled.body).toMatchObject({ version: 3, name: 'Renamed', records: [answered('b')] });
    expect((await call('PUT', id, { version: 3, name: 'Both', records: [] })).body).toMatchObject({
      version: 4,
      record_count: 0,
      validation: { valid: false, findings: [{ code: 'no_records' }] },
    });
    const { body } = await call('GET', `${id}/versions`);
    expect(body).toMatchObject({ count: 4, next_cursor: null });
    expect(body.versions.map((one: Record<string, unknown>) => [one.version, one.name, one.record_count])).toEqual([
      [4, 'Both', 0],
      [3, 'Renamed', 1],
      [2, 'Renamed', 1],
      [1, 'Capitals', 1],
    ]);
    expect(Object.keys(body.versions[0]).sort()).toEqual(
      ['content_sha256', 'created_at', 'created_by', 'name', 'record_count', 'version'].sort(),
    );
    const page = await call('GET', `${id}/versions?limit=3`);
    expect(page.body.next_cursor).toBe('2');
    expect((await call('GET', `${id}/versions?cursor=2`)).body.versions).toEqual([body.versions[3]]);
    expect((await call('GET', `${id}/versions/2`)).body).toEqual({
      ...body.versions[2],
      id,
      project_id: project,
      records: [answered('a')],
      validation: { valid: true, findings: [] },
    });
    for (const version of ['5', '0', '-1', '1.0', '99999999999'])
      expect(refused(await call('GET', `${id}/versions/${version}`))).toBe('404 not_found');
    expect(refused(await call('GET', `${id}/versions?limit=0`))).toBe('422 invalid_request');
  });

  it('refuses an update that is stale, or that changes nothing', async () => {
    const { id } = await imported(record('a'));
    const stale = await call('PUT', id, { version: 2, name: 'x' });
    expect(stale).toMatchObject({ status: 409, body: { code: 'stale_version', details: [{ current: 1 }] } });
    expect(refused(await call('PUT', id, { version: 1, name: 'x' }, { 'If-Match': '"2"' }))).toBe('409 stale_version');
    for (const json of [{ version: 1 }, { name: 'x' }, { version: 1, name: '' }, { version: 1, records: {} }])
      expect(refused(await call('PUT', id, json))).toBe('422 invalid_request');
    expect((await call('GET', id)).body).toMatchObject({ version: 1, name: 'Capitals' });
  });

  it('freezes what validates, once, and nothing changes it afterwards', async () => {
    const { id } = await imported(record('a'), record('a'));
    const invalid = await call('POST', `${id}/freeze`, { version: 9 });
    expect(refused(invalid)).toBe('422 dataset_invalid');
    expect(invalid.body.details).toEqual([
      { code: 'duplicate_id', path: 'records.1.id', message: expect.stringContaining('row 2') },
    ]);
    await call('PUT', id, { version: 1, records: [record('a')] });
    expect(refused(await call('POST', `${id}/freeze`, { version: '2' }))).toBe('422 invalid_request');
    expect(refused(await call('POST', `${id}/freeze`, { version: 1 }))).toBe('409 stale_version');
    expect(refused(await call('POST', `${id}/freeze`, {}, { 'If-Match': '"1"' }))).toBe('409 stale_version');
    const frozen = await call('POST', `${id}/freeze`);
    expect(frozen).toMatchObject({ status: 200, body: { version: 2, state: 'frozen', records: [answered('a')] } });
    expect(frozen.body.frozen_at).toBeGreaterThanOrEqual(frozen.body.updated_at);
    for (const attempt of [
      call('PUT', id, { version: 2, name: 'x' }),
      call('PUT', id, { version: 9, records: [] }),
      call('POST', `${id}/freeze`, { version: 2 }),
      call('DELETE', id),
      call('DELETE', id, undefined, { 'If-Match': '"2"' }),
    ])
      expect(refused(await attempt)).toBe('409 dataset_frozen');
    expect((await call('GET', id)).body).toEqual(frozen.body);
  });

  it('forks a frozen dataset into an editable one that says where it is from', async () => {
    const { id, content_sha256 } = await imported(record('a'));
    await call('PUT', id, { version: 1, name: 'Second' });
    await call('POST', `${id}/freeze`);
    const fork = await call('POST', `${id}/fork`);
    expect(fork).toMatchObject({
      status: 201,
      body: { name: 'Second (fork)', version: 1, state: 'editable', content_sha256, frozen_at: null },
    });
    expect(fork.body.forked_from).toEqual({ dataset_id: id, version: 2 });
    expect(fork.body.records).toEqual([answered('a')]);
    expect((await call('PUT', fork.body.id, { version: 1, records: [] })).status).toBe(200);
    expect((await call('GET', id)).body.records).toEqual([answered('a')]);
    expect((await call('POST', `${id}/fork`, { name: 'Mine' })).body.name).toBe('Mine');
    expect(refused(await call('POST', `${id}/fork`, { name: '' }))).toBe('422 invalid_request');
  });

  it('deletes an editable dataset with its history', async () => {
    const { id } = await imported(record('a'));
    expect(refused(await call('DELETE', id, undefined, { 'If-Match': '"2"' }))).toBe('409 stale_version');
    const { status, body } = await call('DELETE', id, undefined, { 'If-Match': '"1"' });
    expect({ status, body }).toEqual({ status: 200, body: { id, deleted: true } });
    for (const path of [id, `${id}/versions`, `${id}/versions/1`, `${id}/compare?with=1`])
      expect(refused(await call('GET', path))).toBe('404 not_found');
    expect(refused(await call('DELETE', id))).toBe('404 not_found');
    expect(await app.store.datasets.records(id, 1)).toBeNull();
  });

  it('compares versions and datasets, record by record', async () => {
    const { id } = await imported(record('a'), record('b'), record('c', { level: 1 }));
    const records = [record('a'), record('c', { expected: 'Other', level: 2 }), record('d')];
    await call('PUT', id, { version: 1, records });
    const other = await imported(record('a'));
    const changed = {
      id: 'c',
      fields: ['expected', 'fields.level'],
      before: answered('c', { fields: { level: 1 } }),
      after: answered('c', { expected: 'Other', fields: { level: 2 } }),
    };
    expect((await call('GET', `${id}/compare?with=1`)).body).toEqual({
      dataset: { dataset_id: id, version: 2 },
      with: { dataset_id: id, version: 1 },
      added: [answered('d')],
      removed: [answered('b')],
      changed: [changed],
      unchanged: 1,
    });
    const backwards = (await call('GET', `${id}/compare?with=2&version=1`)).body;
    expect(backwards).toMatchObject({ added: [answered('b')], removed: [answered('d')], unchanged: 1 });
    expect(backwards.changed).toEqual([{ ...changed, before: changed.after, after: changed.before }]);
    const between = (await call('GET', `${other.id}/compare?with=${id}`)).body;
    expect(between).toMatchObject({ with: { dataset_id: id, version: 2 }, added: [], unchanged: 1, changed: [] });
    expect(between.removed.map((one: { id: string }) => one.id)).toEqual(['c', 'd']);
    const older = (await call('GET', `${other.id}/compare?with=${id}@1`)).body;
    expect(older.removed.map((one: { id: string }) => one.id)).toEqual(['b', 'c']);
    for (const unknown of ['3', '9999999999', `${id}@3`, missing(id)])
      expect(refused(await call('GET', `${id}/compare?with=${unknown}`))).toBe('404 not_found');
    for (const malformed of ['', '?with=', '?with=0', `?with=${id}@`, '?with=x%00', '?with=1&version=x'])
      expect(refused(await call('GET', `${id}/compare${malformed}`))).toBe('422 invalid_request');
  });

  it('shows another team’s dataset, and one of another project, as if there were none', async () => {
    const { id } = await imported(record('a'));
    const elsewhere = await createProject(app, admin.token);
    const own = await createProject(app, stranger.token);
    const cases: [string, string, object?][] = [
      ['GET', ''],
      ['PUT', '', { version: 1, name: 'x' }],
      ['DELETE', ''],
      ['POST', '/freeze'],
      ['POST', '/fork'],
      ['GET', '/versions'],
      ['GET', '/versions/1'],
      ['GET', '/compare?with=1'],
    ];
    const at = (by: Member, projectId: string, [method, path, json]: (typeof cases)[number], dataset: string) =>
      app.call(method, `/v1/projects/${projectId}/datasets/${dataset}${path}`, {
        token: by.token,
        ...(json && { json }),
      });
    const shown = ({ status, body: { request_id: _, ...body } }: Answer) => ({ status, body });
    for (const one of cases) {
      const none = shown(await at(admin, project, one, missing(id)));
      expect(none.status).toBe(404);
      expect(shown(await at(admin, elsewhere, one, id))).toEqual(none);
      expect(shown(await at(stranger, own, one, id))).toEqual(none);
      expect((await at(stranger, project, one, id)).status).toBe(404);
    }
    expect((await at(stranger, project, ['GET', '/../../datasets'], id)).status).toBe(404);
    expect(refused(await app.post(datasets, stranger.token, { records: [] }))).toBe('404 not_found');
    expect((await call('GET', id)).body.version).toBe(1);
  });

  it('lets no field of a body reach what it does not name', async () => {
    const smuggled = { id: 'dst_x', team_id: 'x', role: 'admin', version: 1, state: 'frozen', created_by: 'x' };
    const raw = JSON.stringify({ ...smuggled, project_id: 'x', content_sha256: 'x', records: [record('a')] });
    const polluted = raw.replace('{', '{"__proto__":{"state":"frozen"},"constructor":1,');
    const { body } = await app.call('POST', datasets, { token: admin.token, raw: polluted });
    const clean = await imported(record('a'));
    expect(body).toEqual({
      ...clean,
      id: body.id,
      name: 'Untitled dataset',
      created_at: body.created_at,
      updated_at: body.updated_at,
    });
    const updated = await app.call('PUT', `${datasets}/${body.id}`, { token: admin.token, raw: polluted });
    expect(updated.body).toEqual({ ...body, version: 2, updated_at: updated.body.updated_at });
  });

  it('keeps a record’s __proto__ as data', async () => {
    const raw = `{"records":[{"id":"a","input":{"__proto__":{"b":1}},"expected":1,"__proto__":{"c":2}}]}`;
    const { body } = await app.call('POST', datasets, { token: admin.token, raw });
    const text = await (
      await fetch(`${app.url}${datasets}/${body.id}`, { headers: { Authorization: `Bearer ${admin.token}` } })
    ).text();
    expect(text).toContain('"input":{"__proto__":{"b":1}}');
    expect(text).toContain('"fields":{"__proto__":{"c":2}}');
  });

  it('lists a thousand datasets without reading a record', async () => {
    const { id } = await imported(record('a'));
    const dataset = (await app.store.datasets.find(project, id)) as Dataset;
    for (let copy = 0; copy < 1000; copy++) await app.store.datasets.add({ ...dataset, id: ids.next('dst') }, []);
    const read = jest.spyOn(app.store.datasets, 'records');
    const { body } = await app.get(datasets, member.token);
    expect(body.count).toBe(1000);
    expect(body.datasets.some((one: object) => 'records' in one)).toBe(false);
    const rest = await app.get(`${datasets}?limit=7&cursor=${body.next_cursor}`, member.token);
    expect(rest.body).toMatchObject({ count: 1, next_cursor: null });
    const all = [...body.datasets, ...rest.body.datasets].map((one: { id: string }) => one.id);
    expect(new Set(all).size).toBe(1001);
    expect([...all].sort().reverse()).toEqual(all);
    expect(read).not.toHaveBeenCalled();
    for (const bad of ['limit=1001', 'limit=x', `cursor=${randomUUID()}`])
      expect(refused(await app.get(`${datasets}?${bad}`, member.token))).toBe('422 invalid_request');
  });
});
