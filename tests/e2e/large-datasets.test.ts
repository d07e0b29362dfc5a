import { rm } from 'node:fs/promises';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import { databaseBefore } from '../support/database-before.js';
import { answering, ended, evaluatedProject, records } from '../support/evaluations.js';
import {
  addOldDataset,
  addOldProject,
  contentsOf,
  digestOf,
  oldRecords,
  RECORDS_MIGRATION,
} from '../support/old-datasets.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { Service, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import { register } from '../support/workspace.js';

const alone = 'the process that works is killed';

describe('a large dataset', () => {
  let database: TestDatabase;
  let dataDir: string;
  let service: Service;
  beforeEach(async () => {
    dataDir = await temporaryFolder();
  });
  afterEach(async () => {
    await service.stop();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('is evaluated with exactly one row for each record, though the service is killed twice', async () => {
    const engine = await ScriptedEngine.start();
    engine.script = answering((number) => number % 10 === 0);
    database = await freshDatabase();
    const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host };
    const start = () => Service.start({ databaseUrl: database.url, dataDir, env, alone });
    service = await start();
    const { token } = await register(service, 'Ada');
    await query(database.url, 'UPDATE accounts SET email_verified_at = now()');
    // The records are longer than one part that is read at once, and the rows are more than one part of an export.
    const count = 130;
    const rows = records(count).map((row) => ({ ...row, input: `${'lorem '.repeat(1_700)}${row.input}` }));
    const subject = await evaluatedProject(service, token, {
      spec: { acceptance: { metric: 'contains', threshold: 0.8 } },
      model: { runtime: 'openai', base_url: engine.url, model: 'big-model' },
      rows,
    });
    const job = { kind: 'evaluation', project_id: subject.project, dataset_id: subject.dataset };
    const { body } = await service.post('/v1/jobs', token, job);
    for (const share of [0.3, 0.7]) {
      await engine.wasAsked(Math.round(share * count));
      await service.kill();
      service = await start();
    }
    expect(await ended(service, token, body.id)).toMatchObject({
      status: 'succeeded',
      progress: { done: count, total: count },
      result: { count, right: 117, errors: 0 },
    });
    const results = `/v1/jobs/${body.id}/results`;
    const first = (await service.get(`${results}?limit=1000`, token)).body;
    expect(first.results.map(({ record_id }: { record_id: string }) => record_id)).toEqual(rows.map(({ id }) => id));
    expect(engine.asked.length).toBeLessThanOrEqual(count + 2); // only records without a stored row are asked again

    const exported = (format: string) => service.get(`${results}/export?format=${format}`, token);
    const lines = await exported('jsonl');
    expect(lines.headers.get('content-disposition')).toBe(`attachment; filename="results-${body.id}.jsonl"`);
    const parsed = lines.body.trimEnd().split('\n');
    expect(parsed.map((line: string) => JSON.parse(line))).toEqual(first.results);
    const table = (await exported('csv')).body.trimEnd().split('\r\n');
    const columns =
      'record_id,group,input,expected,output,score,latency,prompt_tokens,completion_tokens,error,model_id';
    expect(table[0]).toBe(columns);
    expect(table.slice(1).map((line: string) => line.split(',')[0])).toEqual(rows.map(({ id }) => id));
    expect(table[2]).toMatch(/^r2,even,[a-z ]+2,answer 2,Answer 2\.,1,[\d.e-]+,5,2,,mdl_[\da-f-]{36}$/);
    await engine.close();
  });

  it('of an earlier release moves completely, though the service is killed again and again', async () => {
    const [team, project] = ['tea', 'prj'].map((prefix) => `${prefix}_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11`);
    const place = { team, project } as { team: string; project: string };
    const idOf = (n: number) => `dst_0199f2a4-7c1e-7a57-9d0e-${String(n).padStart(12, '0')}`;
    const histories = Array.from({ length: 40 }, (_, n) => [oldRecords(n, 1), null, oldRecords(n, 2)]);
    database = await databaseBefore(RECORDS_MIGRATION);
    const run = (sql: string, values?: unknown[]) => query<{ n: number }>(database.url, sql, values);
    await addOldProject(run, place);
    for (const [n, history] of histories.entries())
      await addOldDataset(run, { id: idOf(n), project: place.project, history });
    const left = async () => (await run('SELECT count(*)::integer AS n FROM dataset_old_contents'))[0]?.n ?? 0;

    const start = () => Service.start({ databaseUrl: database.url, dataDir, alone });
    service = await start();
    for (const most of [70, 40, 15]) {
      await until(`at most ${most} are left`, async () => (await left()) <= most, 2);
      await service.kill();
      expect(await left()).toBeGreaterThan(0);
      service = await start();
    }
    await until('none is left', async () => (await left()) === 0);
    const { id, token } = await register(service, 'Ada');
    await run('UPDATE accounts SET team_id = $2 WHERE id = $1', [id, place.team]);
    for (const [n, history] of histories.entries())
      for (const [index, all] of contentsOf(history).entries()) {
        const version = index + 1;
        const path = `/v1/projects/${place.project}/datasets/${idOf(n)}/versions/${version}`;
        const { body } = await service.get(path, token);
        expect([idOf(n), version, JSON.stringify(body.records)]).toEqual([idOf(n), version, JSON.stringify(all)]);
        expect(body).toMatchObject({ record_count: all.length, content_sha256: digestOf(all), next_cursor: null });
      }
  });
});
