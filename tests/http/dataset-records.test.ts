import type { DatasetRecord } from '../../src/domain/workspace/dataset-record.js';
import { digestOf } from '../support/old-datasets.js';
import { createProject, type Member } from '../support/workspace.js';
import { invalid, notFound, refusal, stale } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

const record = (id: string, over: object = {}) => ({ id, input: `What is ${id}?`, expected: `It is ${id}.`, ...over });
const whole = (id: string, over: object = {}): DatasetRecord => ({
  ...{ id, group: null, input: `What is ${id}?`, expected: `It is ${id}.`, fields: {} },
  ...over,
});
const many = (count: number, over: object = {}) => Array.from({ length: count }, (_, n) => record(`r${n}`, over));

describe('the records of a dataset', () => {
  let app: TestApp;
  let admin: Member;
  let member: Member;
  let stranger: Member;
  let datasets: string;

  beforeAll(async () => {
    const env = { SERVICE_DATASET_RECORDS: '1200', SERVICE_RATE_LIMIT_PER_MIN: '100000' };
    ({ app, admin, member, stranger } = await TestApp.withTeam({ env }));
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    datasets = `/v1/projects/${await createProject(app, admin.token)}/datasets`;
  });

  const imported = async (records: readonly object[]) => {
    const { status, body } = await app.post(datasets, admin.token, { name: 'Capitals', records });
    expect(status).toBe(201);
    return body;
  };
  const call = (method: string, path: string, json?: object, headers = {}, token = admin.token) =>
    app.call(method, `${datasets}/${path}`, { token, ...(json && { json }), headers });
  const get = async (path: string) => (await call('GET', path, undefined, {}, member.token)).body;

  it('come with the dataset at first, and then in pages', async () => {
    const dataset = await imported(many(1_100));
    expect(dataset).toMatchObject({ record_count: 1_100, next_cursor: '1:500' });
    const read = await get(dataset.id);
    expect(read).toEqual(dataset);
    expect(read.records).toHaveLength(500);
    const all = [...read.records];
    for (let cursor = read.next_cursor; cursor; ) {
      const page = await get(`${dataset.id}/records?cursor=${cursor}`);
      expect(page).toMatchObject({ dataset_id: dataset.id, version: 1, count: page.records.length });
      all.push(...page.records);
      cursor = page.next_cursor;
    }
    expect(all).toEqual(many(1_100).map(({ id }) => whole(id)));
    const version = await get(`${dataset.id}/versions/1`);
    expect(version).toMatchObject({ next_cursor: '1:500', content_sha256: digestOf(all) });
    expect(version.records).toEqual(read.records);
  });

  it('are listed in pages of one version, even if the dataset changes', async () => {
    const { id } = await imported(many(5));
    const first = await get(`${id}/records?limit=2`);
    await call('PUT', id, { version: 1, records: [] });
    const second = await get(`${id}/records?limit=2&cursor=${first.next_cursor}`);
    expect(second.records.map((one: DatasetRecord) => one.id)).toEqual(['r2', 'r3']);
    expect(await get(`${id}/records`)).toMatchObject({ version: 2, records: [], count: 0, next_cursor: null });
    expect((await get(`${id}/records?version=1&limit=9`)).records).toHaveLength(5);
    expect(await call('GET', `${id}/records?version=3`)).toMatchObject(notFound);
    for (const cursor of ['x', '0:1', '1:', '1:9999999', '9999999999:0'])
      expect(await call('GET', `${id}/records?cursor=${cursor}`)).toMatchObject(invalid('cursor'));
    expect(await call('GET', `${id}/records?cursor=1:2&version=2`)).toMatchObject(invalid('cursor'));
    expect(await call('GET', `${id}/records`, undefined, {}, stranger.token)).toMatchObject(notFound);
  });

  it('are found by text, group and finding', async () => {
    const { id } = await imported([
      record('a', { group: 'x', input: 'Where is Ürümqi?' }),
      record('b', { group: 'y', expected: '' }),
      record('a', { group: 'x', expected: null, note: 'ürümqi' }),
      record('c'),
    ]);
    const found = async (query: string) => {
      const { records, next_cursor } = await get(`${id}/records?${query}`);
      return [records.map((one: DatasetRecord) => one.id).join(), next_cursor];
    };
    expect(await found('q=%C3%BCR%C3%9CMQI')).toEqual(['a,a', null]);
    expect(await found('group=x')).toEqual(['a,a', null]);
    expect(await found('group=')).toEqual(['c', null]);
    expect(await found('finding=empty_expected')).toEqual(['b,a', null]);
    expect(await found('finding=duplicate_id')).toEqual(['a', null]);
    expect(await found('finding=empty_input')).toEqual(['', null]);
    expect(await found('finding=empty_expected&limit=1')).toEqual(['b', '1:2']);
    expect(await found('finding=empty_expected&limit=1&cursor=1:2')).toEqual(['a', null]);
    expect(await found('finding=empty_expected&group=y')).toEqual(['b', null]);
    expect(await found('group=x&limit=1')).toEqual(['a', '1:1']);
    expect(await found('group=x&limit=1&cursor=1:1')).toEqual(['a', '1:3']);
    for (const query of ['finding=bad', 'q=', 'limit=0', 'limit=1001'])
      expect(await call('GET', `${id}/records?${query}`)).toMatchObject(refusal(422, 'invalid_request'));
  });

  it('change one by one, each as a new version', async () => {
    const { id } = await imported([record('a/b é'), record('b', { group: 'g', level: 1 }), record('c')]);
    const path = `${id}/records/${encodeURIComponent('a/b é')}`;
    const changed = await call('PATCH', path, { version: 1, expected: ['new'], fields: { note: null } });
    expect(changed).toMatchObject({ status: 200 });
    expect(changed.headers.get('etag')).toBe('"2"');
    expect(changed.body).toEqual({
      ...whole('a/b é', { expected: ['new'], fields: { note: null } }),
      dataset_id: id,
      version: 2,
    });
    const renamed = await call('PATCH', `${id}/records/b`, { id: 'B', group: null }, { 'If-Match': '"2"' });
    expect(renamed.body).toMatchObject({ id: 'B', group: null, fields: { level: 1 }, version: 3 });
    const removed = await call('DELETE', `${id}/records/c`, { version: 3 });
    expect(removed).toMatchObject({ status: 200, body: { id: 'c', deleted: true, version: 4 } });
    const now = [
      whole('a/b é', { expected: ['new'], fields: { note: null } }),
      whole('B', { input: 'What is b?', expected: 'It is b.', fields: { level: 1 } }),
    ];
    const read = await get(id);
    expect(read).toMatchObject({ version: 4, record_count: 2, records: now, content_sha256: digestOf(now) });
    expect((await get(`${id}/versions/1`)).records).toHaveLength(3);
    expect((await get(`${id}/versions`)).versions).toHaveLength(4);
    const gone = await call('DELETE', `${id}/records/c`, undefined, { 'If-Match': '"4"' });
    expect(gone).toMatchObject(notFound);
  });

  it('are refused a change that does not fit, and then stay as they are', async () => {
    const { id } = await imported([record('a')]);
    const patch = (json: object, record = 'a') => call('PATCH', `${id}/records/${record}`, json);
    expect(await patch({ version: 1, group: 'x'.repeat(201) })).toMatchObject(invalid('group'));
    expect(await patch({ version: 1, fields: [] })).toMatchObject(invalid('fields'));
    expect(await patch({ version: 1, fields: { input: 1 } })).toMatchObject(invalid('fields.input'));
    expect(await patch({ version: 1, input: 'a\0' })).toMatchObject(refusal(422, 'invalid_request'));
    expect(await patch({ expected: 'x' })).toMatchObject(invalid('version'));
    expect(await patch({ version: 1 })).toMatchObject(invalid(''));
    for (const name of ['none', 'a%00']) expect(await patch({ version: 1 }, name)).toMatchObject(notFound);
    expect(await patch({ version: 2, expected: 'x' })).toMatchObject(stale(1));
    expect(await call('DELETE', `${id}/records/a`)).toMatchObject(invalid('version'));
    expect(await call('DELETE', `${id}/records/a`, { version: 7 })).toMatchObject(stale(1));
    expect(await call('PATCH', `${id}/records/a`, { version: 1 }, {}, member.token)).toMatchObject({ status: 403 });
    await call('POST', `${id}/freeze`);
    expect(await patch({ version: 1, expected: 'x' })).toMatchObject(refusal(409, 'dataset_frozen'));
    expect(await call('DELETE', `${id}/records/a`, { version: 1 })).toMatchObject(refusal(409, 'dataset_frozen'));
    expect(await call('POST', `${id}/records`, { records: [{}] })).toMatchObject(refusal(409, 'dataset_frozen'));
    expect((await get(id)).records).toEqual([whole('a')]);
  });

  it('can be added, except those that are there already under any id', async () => {
    const { id } = await imported([record('a'), record('row-7', { input: { b: 1, a: 2 } })]);
    const sent = [
      { ...record('a'), id: 'other' },
      { ...record('row-7'), id: 'x', input: { a: 2, b: 1 } },
      record('new', { group: 'g' }),
      { ...record('new'), id: 'again', group: 'g' },
      { input: 'no id', expected: 'x' },
    ];
    const { status, body, headers } = await call('POST', `${id}/records`, { version: 1, records: sent });
    expect({ status, etag: headers.get('etag') }).toEqual({ status: 201, etag: '"2"' });
    expect(body).toEqual({ dataset_id: id, version: 2, record_count: 4, added: ['new', 'row-8'], duplicates: 3 });
    const read = await get(id);
    expect(read.records.slice(2)).toEqual([
      whole('new', { group: 'g' }),
      whole('row-8', { input: 'no id', expected: 'x' }),
    ]);
    expect(read.content_sha256).toBe(digestOf(read.records));
    const nothing = await call('POST', `${id}/records`, { records: sent.slice(0, 2) });
    expect(nothing.body).toMatchObject({ version: 2, record_count: 4, added: [], duplicates: 2 });
    expect(await call('POST', `${id}/records`, { version: 1, records: [{}] })).toMatchObject(stale(2));
    expect(await call('POST', `${id}/records`, { records: [1] })).toMatchObject(invalid('records.0'));
    expect(await call('POST', `${id}/records`, {})).toMatchObject(invalid('records'));
  });

  it('cannot become more than the setting allows', async () => {
    const { id } = await imported(many(1_199));
    const { body } = await call('POST', `${id}/records`, { records: [record('x'), record('y')] });
    expect(body.details).toEqual([
      {
        path: 'records',
        message:
          'there are 2 new rows, and the dataset has 1199 records, but it may have at most 1200 (SERVICE_DATASET_RECORDS)',
      },
    ]);
    expect((await call('POST', `${id}/records`, { records: [record('x')] })).status).toBe(201);
  });

  it('keep the findings of the dataset right, whatever changes', async () => {
    const { id } = await imported([record('a'), record('b')]);
    const findings = async () => {
      const { validation } = await get(id);
      expect(validation.valid).toBe(validation.count === 0);
      return validation.findings.map(({ code, path }: Record<string, string>) => `${code} ${path}`);
    };
    let version = 1;
    const patch = async (name: string, json: object) => {
      expect((await call('PATCH', `${id}/records/${name}`, { version: version++, ...json })).status).toBe(200);
      return findings();
    };
    expect(await patch('b', { id: 'a' })).toEqual(['duplicate_id records.1.id']);
    expect(await patch('a', { expected: ' ' })).toEqual([
      'empty_expected records.0.expected',
      'duplicate_id records.1.id',
    ]);
    expect(await patch('a', { id: 'c' })).toEqual(['empty_expected records.0.expected']);
    await call('DELETE', `${id}/records/c`, { version: version++ });
    expect(await findings()).toEqual([]);
    await call('DELETE', `${id}/records/a`, { version: version++ });
    expect(await findings()).toEqual(['no_records records']);
    await call('POST', `${id}/records`, { records: [record('a', { input: [] }), record('b')] });
    version++;
    expect(await findings()).toEqual(['empty_input records.0.input']);
    expect(await patch('a', { input: 'x' })).toEqual([]);
    await call('POST', `${id}/records`, { records: [record('b', { expected: 'other' })] });
    expect(await findings()).toEqual(['duplicate_id records.2.id']);
  });

  it('have a digest that is computed late if the dataset is large, and then is right everywhere', async () => {
    const { id } = await imported(many(700));
    const after = many(700).map((one) => whole(one.id, one.id === 'r600' ? { expected: 'new' } : {}));
    await call('PATCH', `${id}/records/r600`, { version: 1, expected: 'new' });
    const [entry] = (await app.get(datasets, member.token)).body.datasets;
    expect(entry.content_sha256).toBeNull();
    const frozen = await call('POST', `${id}/freeze`, { version: 2 });
    expect(frozen.body.content_sha256).toBe(digestOf(after));
    expect((await app.get(datasets, member.token)).body.datasets[0].content_sha256).toBe(digestOf(after));
    const fork = await call('POST', `${id}/fork`);
    expect(fork.body).toMatchObject({ content_sha256: digestOf(after), record_count: 700, next_cursor: '1:500' });
    expect((await get(`${fork.body.id}/records?cursor=1:500&limit=1000`)).records).toEqual(after.slice(500));
    expect((await get(`${id}/compare?with=1`)).counts).toEqual({ added: 0, removed: 0, changed: 1 });
    expect((await get(`${fork.body.id}/compare?with=${id}`)).unchanged).toBe(700);
  });

  it('are compared in pages', async () => {
    const { id } = await imported(many(10));
    await call('PUT', id, { version: 1, records: [...many(4, { group: 'g' }), ...many(14).slice(9)] });
    const parts = [];
    for (let path = `${id}/compare?with=1&limit=5`; path; ) {
      const page = await get(path);
      expect(page).toMatchObject({ dataset: { version: 2 }, with: { version: 1 } });
      if (parts.length === 0) await call('PUT', id, { version: 2, records: [] });
      expect(page.counts).toEqual({ added: 4, removed: 5, changed: 4 });
      parts.push([page.added.length, page.removed.length, page.changed.length]);
      path = page.next_cursor && `${id}/compare?with=1&limit=5&cursor=${page.next_cursor}`;
    }
    expect(parts).toEqual([
      [4, 1, 0],
      [0, 4, 1],
      [0, 0, 3],
    ]);
    const between = await imported([]);
    const first = await get(`${between.id}/compare?with=${id}@2&limit=1`);
    expect(first.next_cursor).toBe('1:2:1');
    const next = await get(`${between.id}/compare?with=${id}&limit=1&cursor=1:2:1`);
    expect(next).toMatchObject({ with: { dataset_id: id, version: 2 }, removed: [{ id: 'r1' }] });
    for (const query of ['cursor=5', 'cursor=2:1:0', 'cursor=2:1:9999999', 'cursor=3:1:5&version=2', 'cursor=2:2:5'])
      expect(await call('GET', `${id}/compare?with=1&${query}`)).toMatchObject(invalid('cursor'));
  });

  it('only cost what they change for the quota', async () => {
    const { id } = await imported(many(600, { group: 'x'.repeat(200) }));
    const used = async () => (await app.get('/v1/status', admin.token)).body.storage.workspace_bytes.used;
    const before = await used();
    await call('PATCH', `${id}/records/r7`, { version: 1, expected: 'new' });
    const cost = (await used()) - before;
    expect(cost).toBeGreaterThan(200);
    expect(cost).toBeLessThan(1_000);
  });

  describe('as a file', () => {
    const records = [
      record('a', { group: 'g', note: '=1+1', 'a "name"': 'x,y' }),
      record('-2', { input: '+SUM(A1)', expected: -5, note: '-7.5' }),
      record('c', { input: { deep: [1] }, expected: '@cmd|x', note: '\tx', more: true }),
      record('d', { input: 'a;=1;-b', expected: 'a\t@b\n+c', note: '\r =1', more: { a: ';=1' } }),
      record('f', { input: '\u00a0=1', expected: 'a;"=1', note: '\v\ufeff+1', more: 'a;\f"\u200b@b;"x"' }),
      record('e', { input: 'a; b-c, -1', expected: '; ＝1', note: ' -1', more: 'e=1' }),
    ];
    const exported = (path: string) => call('GET', path, undefined, {}, member.token);

    it('of JSON Lines can be imported again without a loss', async () => {
      const { id, content_sha256 } = await imported([
        ...records,
        record('d', { input: null, fields: { messages: [] } }),
      ]);
      const { headers, body } = await exported(`${id}/export`);
      expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
      expect(headers.get('content-disposition')).toBe('attachment; filename="Capitals-1.jsonl"');
      const again = await app.call('POST', datasets, {
        token: admin.token,
        raw: body,
        headers: { 'Content-Type': 'application/x-ndjson' },
      });
      expect(again.body.content_sha256).toBe(content_sha256);
    });

    it('of CSV has a column for each field, and no cell that a spreadsheet would run', async () => {
      const { id } = await imported(records);
      await call('PUT', id, { version: 1, records: [] });
      const { headers, body } = await exported(`${id}/export?format=csv&version=1`);
      expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(body.split('\r\n')).toEqual([
        'id,group,input,expected,note,"a ""name""",more',
        `a,g,What is a?,It is a.,'=1+1,"x,y",`,
        `-2,,'+SUM(A1),-5,-7.5,,`,
        `c,,"{""deep"":[1]}",'@cmd|x,'\tx,,true`,
        `d,,a;'=1;'-b,"a\t'@b\n'+c","'\r' =1",,"{""a"":"";'=1""}"`,
        `f,,'\u00a0=1,"a;'""=1",'\v\ufeff+1,,"a;'\f""\u200b@b;""x"""`,
        `e,,"a; b-c, -1",;' ＝1,' -1,,e=1`,
        '',
      ]);
      expect((await exported(`${id}/export?format=csv`)).body).toBe('id,group,input,expected\r\n');
      expect(await exported(`${id}/export?format=xls`)).toMatchObject(invalid('format'));
      expect(await exported(`${id}/export?version=9`)).toMatchObject(notFound);
    });

    it('has every record of a dataset that is read in several parts, in both formats', async () => {
      const all = Array.from({ length: 1_150 }, (_, n) => record(`r${n}`, { fields: { [`f${n % 3}`]: n } }));
      const { id } = await imported(all);
      const ids = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, n]) => n);
      const numbers = all.map((_, n) => String(n));
      expect(ids((await exported(`${id}/export`)).body, /^\{"id":"r(\d+)"/gm)).toEqual(numbers);
      expect(ids((await exported(`${id}/export?format=csv`)).body, /^r(\d+),/gm)).toEqual(numbers);
    });

    it('is refused as CSV, but not as JSON Lines, if the records have more than 1,000 different fields', async () => {
      const fields = (n: number) => Object.fromEntries(Array.from({ length: 40 }, (_, f) => [`${n} ${f}`, f]));
      const { id } = await imported(Array.from({ length: 26 }, (_, n) => record(`r${n}`, { fields: fields(n) })));
      expect(await exported(`${id}/export?format=csv`)).toMatchObject(invalid('format'));
      expect((await exported(`${id}/export`)).status).toBe(200);
    });
  });
});
