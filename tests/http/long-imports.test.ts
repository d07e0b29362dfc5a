import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { RecordRepository } from '../../src/application/workspace/ports.js';
import { SpooledBody } from '../../src/interfaces/http/spooled-body.js';
import { within } from '../support/until.js';
import { createProject, register } from '../support/workspace.js';
import { forms, many } from './support/record-files.js';
import { invalid, refusal } from './support/refusals.js';
import { TestApp } from './support/test-app.js';

describe('an import under another limit', () => {
  let app: TestApp;
  let token: string;
  let datasets: string;
  beforeAll(async () => {
    app = await TestApp.start({ env: { SERVICE_DATASET_RECORDS: '600', SERVICE_DATASET_IMPORT_MB: '7' } });
    ({ token } = await register(app, 'Ada'));
    datasets = `/v1/projects/${await createProject(app, token)}/datasets`;
  });
  afterAll(() => app.stop());
  const send = (type: string, raw: string) =>
    app.call('POST', datasets, { token, raw, headers: { 'Content-Type': type } });

  it('accepts as many records as the setting says, and counts all findings', async () => {
    const call = (rows: number) => send('text/csv', `input\n${'a\n'.repeat(rows)}`);
    const { body } = await call(600);
    expect([body.record_count, body.validation.count, body.validation.findings.length]).toEqual([600, 600, 101]);
    expect((await app.get(datasets, token)).body.datasets[0].validation.count).toBe(600);
    expect((await call(601)).body.details).toEqual([
      {
        path: 'records',
        message: 'there are 601 rows, but a dataset may have at most 600 records (SERVICE_DATASET_RECORDS)',
      },
    ]);
  });

  it.each(forms)('reads a long body in parts, as %s', async (type, encoded) => {
    const records = many(600, { text: '🦆 x'.repeat(1_600) });
    const raw = encoded(records);
    expect(Buffer.byteLength(raw)).toBeGreaterThan(5.5 * 1024 * 1024);
    const { status, body } = await send(type, raw);
    expect({ status, count: body.record_count, more: body.next_cursor }).toEqual({
      status: 201,
      count: 600,
      more: '1:500',
    });
    expect(body.records[499].fields.text).toBe('🦆 x'.repeat(1_600));
    const last = (await app.get(`${datasets}/${body.id}/records?cursor=1:599`, token)).body.records;
    expect(last).toMatchObject([{ id: 'r599' }]);
    const broken = type === 'text/csv' ? `${raw}\nx` : type === 'application/json' ? raw.slice(0, -1) : `${raw}\n{`;
    expect([400, 422]).toContain((await send(type, broken)).status);
    expect((await send(type, `${raw}${' '.repeat(2 * 1024 * 1024)}`)).status).toBe(413);
    expect(readdirSync(app.folder.path).filter((name) => name.startsWith('body-'))).toEqual([]);
  });

  it('closes the file of a long body whose sender is gone', async () => {
    const inFile = SpooledBody.inFile.bind(SpooledBody);
    const begun = once(app.server, 'request') as Promise<[unknown, ServerResponse]>;
    const sending = new AbortController();
    const closed = new Promise<void>((resolve, reject) => {
      jest.spyOn(SpooledBody, 'inFile').mockImplementationOnce(async (...body) => {
        const file = await inFile(...body);
        const close = file.close.bind(file);
        jest.spyOn(file, 'close').mockImplementationOnce(() => close().then(resolve, reject));
        sending.abort();
        const [, response] = await begun;
        if (!response.closed) await once(response, 'close');
        return file;
      });
    });
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'text/csv' };
    const body = 'x'.repeat(6 * 1024 * 1024);
    const sent = fetch(app.url + datasets, { method: 'POST', headers, body, signal: sending.signal });
    await expect(sent).rejects.toThrow();
    await within(5_000, () => closed);
  });

  it('and a copy are not stored if the caller loses the role before', async () => {
    const dev = await register(app, 'Dev');
    const becomes = (role: string) => app.call('PATCH', `/v1/auth/users/${dev.id}/role`, { token, json: { role } });
    const names = async () => (await app.get(datasets, token)).body.datasets.map(({ id }: { id: string }) => id);
    const { body } = await app.post(datasets, token, { records: many(2) });
    const before = await names();
    const records = app.container.get(RecordRepository);
    const draft = records.draft.bind(records);
    for (const [path, json] of [
      ['', { records: many(2) }],
      [`/${body.id}/fork`, {}],
    ] as const) {
      expect(await becomes('developer')).toMatchObject({ status: 200 });
      const begun = jest.spyOn(records, 'draft').mockImplementationOnce(async (...of) => {
        await becomes('member');
        return draft(...of);
      });
      expect(await app.post(`${datasets}${path}`, dev.token, json)).toMatchObject(refusal(403, 'forbidden'));
      begun.mockRestore();
    }
    expect(await names()).toEqual(before);
  });

  it('is not stored if the key of the caller is for other projects before', async () => {
    await app.verifyEmails();
    const [project] = /prj_[^/]+/.exec(datasets) ?? [];
    const { body: key } = await app.post('/v1/keys', token, {
      name: 'import',
      projects: [project],
      permissions: ['read', 'write'],
    });
    const records = app.container.get(RecordRepository);
    const draft = records.draft.bind(records);
    const begun = jest.spyOn(records, 'draft').mockImplementationOnce(async (...of) => {
      const json = { version: key.version, projects: [await createProject(app, token)] };
      expect(await app.call('PATCH', `/v1/keys/${key.id}`, { token, json })).toMatchObject({ status: 200 });
      return draft(...of);
    });
    const refused = await app.post(datasets, key.key, { records: many(2) });
    begun.mockRestore();
    expect(refused).toMatchObject(refusal(403, 'key_restricted'));
  });

  it('accepts long updates, too', async () => {
    const { body } = await app.post(datasets, token, { records: [] });
    const raw = JSON.stringify({ version: 1, records: many(600, { text: 'x'.repeat(9_500) }) });
    const update = await app.call('PUT', `${datasets}/${body.id}`, { token, raw });
    expect(update).toMatchObject({ status: 200, body: { version: 2, record_count: 600 } });
  });
});

describe('an import of a starter', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ env: { SERVICE_DATASET_RECORDS: '3' } });
  });
  afterAll(() => app.stop());

  it('is refused if it has more records than a dataset may have', async () => {
    const { token } = await register(app, 'Ada');
    const datasets = `/v1/projects/${await createProject(app, token)}/datasets`;
    const refused = await app.post(datasets, token, { starter_id: 'capital-cities' });
    expect(refused).toMatchObject(invalid('starter_id'));
    expect(refused.body.error).toMatch(/36 rows.* 3 records \(SERVICE_DATASET_RECORDS\)/);
  });
});
