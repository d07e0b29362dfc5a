import { createProject, type Member } from '../support/workspace.js';
import { invalid, notFound, refusal, stale } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const record = (id: string, over: object = {}) => ({ id, input: `What is ${id}?`, expected: `It is ${id}.`, ...over });
const answered = (id: string, over: object = {}) => ({ group: null, fields: {}, ...record(id), ...over });
const missing = (id: string) => id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));

describe('datasets', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let project: string;
  let datasets: string;

  beforeAll(async () => {
    ({ app, admin, member } = await TestApp.withTeam({ env: { SERVICE_DATASET_VERSIONS: '5' } }));
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

  it('imports records and gives them back, to members too', async () => {
    const created = await app.post(datasets, admin.token, {
      name: ' Capitals ',
      records: [record('fr', { group: 'europe', level: 1 }), { input: 'a' }],
    });
    expect(created.status).toBe(201);
    expect(created.headers.get('etag')).toBe('"1"');
    expect(created.body).toEqual({
      id: expect.stringMatching(/^dst_/),
      project_id: project,
      name: 'Capitals',
      version: 1,
      state: 'editable',
      records: [
        answered('fr', { group: 'europe', fields: { level: 1 } }),
        { id: 'row-2', group: null, input: 'a', expected: null, fields: {} },
      ],
      next_cursor: null,
      record_count: 2,
      content_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      validation: {
        valid: false,
        count: 1,
        findings: [{ code: 'empty_expected', path: 'records.1.expected', message: expect.stringContaining('row 2') }],
      },
      forked_from: null,
      created_by: admin.id,
      created_at: expect.any(Number),
      updated_at: created.body.created_at,
      frozen_at: null,
    });
    const read = await app.get(`${datasets}/${created.body.id}`, member.token);
    expect(read).toMatchObject({ status: 200, body: created.body });
    const { records: _, next_cursor: __, ...entry } = created.body;
    expect((await app.get(datasets, member.token)).body).toEqual({
      datasets: [entry],
      count: 1,
      next_cursor: null,
    });
  });

  it('imports either records or a starter, and refuses both or neither', async () => {
    for (const json of [{}, { name: 'x' }, { records: [], starter_id: 'x' }, { records: [], starter: 'x' }]) {
      const { status, body } = await app.post(datasets, admin.token, json);
      expect({ json, status, details: body.details }).toEqual({
        json,
        status: 422,
        details: [{ path: '', message: 'must have either starter_id or records' }],
      });
    }
    const two = await app.post(datasets, admin.token, { starter: 'one', starter_id: 'other' });
    expect(two).toMatchObject(invalid('starter'));
    const unknown = await app.post(datasets, admin.token, { starter: 'no-such-starter' });
    expect(unknown).toMatchObject(invalid('starter_id'));
    const [starter] = (await app.get('/v1/project-starters', admin.token)).body.starters;
    for (const json of [{ starter_id: starter.id }, { starter: starter.id, name: 'Mine' }]) {
      const { status, body } = await app.post(datasets, admin.token, json);
      expect(status).toBe(201);
      expect(body.validation).toEqual({ valid: true, count: 0, findings: [] });
      expect(body.name).toBe('name' in json ? json.name : starter.dataset.name);
      expect(body.record_count).toBe(starter.dataset.record_count);
    }
    expect((await app.get(datasets, admin.token)).body.count).toBe(2);
  });

  it('keeps as many versions as the setting says', async () => {
    const { id } = await imported(record('a'));
    for (let version = 1; version < 7; version++) await call('PUT', id, { version, name: `Version ${version + 1}` });
    const { body } = await call('GET', `${id}/versions`);
    expect(body.versions.map(({ version }: { version: number }) => version)).toEqual([7, 6, 5, 4, 3]);
    expect((await call('GET', `${id}/versions/2`)).status).toBe(404);
    expect((await call('GET', `${id}/versions/3`)).body.records).toEqual([answered('a')]);
    expect((await call('GET', `${id}/records?version=2`)).status).toBe(404);
    for (const path of ['records?cursor=2:1', 'compare?with=2&version=1&cursor=1:2:1'])
      expect(await call('GET', `${id}/${path}`)).toMatchObject(stale(7));
    expect((await call('GET', `${id}/records?cursor=8:1`)).status).toBe(404);
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
      next_cursor: null,
      validation: { valid: true, count: 0, findings: [] },
    });
  });

  it('freezes a valid dataset once; afterwards no call can change it', async () => {
    const { id } = await imported(record('a'), record('a'));
    const twice = await call('POST', `${id}/freeze`, { version: 9 });
    expect(twice).toMatchObject(refusal(422, 'dataset_invalid'));
    expect(twice.body.details).toEqual([
      { code: 'duplicate_id', path: 'records.1.id', message: expect.stringContaining('row 2') },
    ]);
    await call('PUT', id, { version: 1, records: [record('a')] });
    expect(await call('POST', `${id}/freeze`, { version: '2' })).toMatchObject(invalid('version'));
    expect(await call('POST', `${id}/freeze`, { version: 1 })).toMatchObject(stale(2));
    expect(await call('POST', `${id}/freeze`, {}, { 'If-Match': '"1"' })).toMatchObject(stale(2));
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
      expect(await attempt).toMatchObject(refusal(409, 'dataset_frozen'));
    expect((await call('GET', id)).body).toEqual(frozen.body);
  });

  it('forks a frozen dataset into an editable one that names its origin', async () => {
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
    expect(await call('POST', `${id}/fork`, { name: '' })).toMatchObject(invalid('name'));
  });

  it('deletes an editable dataset with its history', async () => {
    const { id } = await imported(record('a'));
    expect(await call('DELETE', id, undefined, { 'If-Match': '"2"' })).toMatchObject(stale(1));
    const { status, body } = await call('DELETE', id, undefined, { 'If-Match': '"1"' });
    expect({ status, body }).toEqual({ status: 200, body: { id, deleted: true } });
    for (const path of [id, `${id}/versions`, `${id}/versions/1`, `${id}/compare?with=1`])
      expect(await call('GET', path)).toMatchObject(notFound);
    expect(await call('DELETE', id)).toMatchObject(notFound);
    expect(await app.store.records.entries(id, 1, { offset: 0, count: 1 })).toBeNull();
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
      counts: { added: 1, removed: 1, changed: 1 },
      next_cursor: null,
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
      expect(await call('GET', `${id}/compare?with=${unknown}`)).toMatchObject(notFound);
    for (const malformed of ['', '?with=', '?with=0', `?with=${id}@`, '?with=x%00', '?with=1&version=x'])
      expect(await call('GET', `${id}/compare${malformed}`)).toMatchObject(refusal(422, 'invalid_request'));
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

  it('lists datasets in pages, newest first, without reading a record', async () => {
    const ids: string[] = [];
    for (const id of ['a', 'b', 'c']) ids.unshift((await imported(record(id))).id);
    const read = jest.spyOn(app.store.records, 'read');
    const first = (await app.get(`${datasets}?limit=2`, member.token)).body;
    const rest = (await app.get(`${datasets}?limit=2&cursor=${first.next_cursor}`, member.token)).body;
    expect([first.count, rest.count, rest.next_cursor]).toEqual([2, 1, null]);
    const listed: { id: string }[] = [...first.datasets, ...rest.datasets];
    expect(listed.map(({ id }) => id)).toEqual(ids);
    expect(listed.some((one) => 'records' in one)).toBe(false);
    expect(read).not.toHaveBeenCalled();
  });
});
