import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { migrateBefore } from '../tests/support/database-before.js';
import { answering, evaluatedProject, records } from '../tests/support/evaluations.js';
import {
  addOldDataset,
  addOldProject,
  digestOf,
  oldRecords,
  RECORDS_MIGRATION,
} from '../tests/support/old-datasets.js';
import { ScriptedEngine } from '../tests/support/scripted-engine.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { type Member, register } from '../tests/support/workspace.js';
import { wanted } from './rounds.js';

/**
 * Kills the service twice during an evaluation of 20,000 records, and ten times while it moves 2,000 datasets of an
 * earlier release. `npm run bench:dataset-kills [records] [datasets]`
 */
const RECORDS = Number(process.argv[2] ?? 20_000);
const DATASETS = Number(process.argv[3] ?? 2_000);
const KILLS = 10;
const TEAM = 'tea_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';
const PROJECT = 'prj_0199f2a4-7c1e-7a57-9d0e-0f8f2f1f7a11';

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const server = await startEmbeddedPostgres({ folder: join(folder, 'database') });
  try {
    if (RECORDS > 0) await evaluation(server.url);
  } finally {
    await server.stop();
  }
  const other = await startEmbeddedPostgres({ folder: join(folder, 'upgrade') });
  try {
    if (DATASETS > 0) await upgrade(other.url);
  } finally {
    await other.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function evaluation(databaseUrl: string): Promise<void> {
  const engine = await ScriptedEngine.start();
  engine.script = answering((number) => number % 10 === 0);
  const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host, SERVICE_DATASET_RECORDS: '100000' };
  const dataDir = await temporaryFolder();
  const start = () => Service.start({ databaseUrl, dataDir, env });
  let service = await start();
  const { token } = await register(service, 'Ada');
  await verifyEmails(databaseUrl);
  const model = { runtime: 'openai', base_url: engine.url, model: 'big-model' };
  const spec = { acceptance: { metric: 'contains', threshold: 0.8 } };
  const { project, dataset } = await evaluatedProject(service, token, { spec, model, rows: records(RECORDS) });
  const begun = performance.now();
  const { body } = await service.post('/v1/jobs', token, {
    kind: 'evaluation',
    project_id: project,
    dataset_id: dataset,
  });
  const job = async () => (await service.get(`/v1/jobs/${body.id}`, token)).body;
  for (const share of [1 / 3, 2 / 3]) {
    while ((await job()).progress.done < share * RECORDS) await pause(50);
    await service.kill();
    console.log(`killed at ${Math.round(share * 100)} %`);
    service = await start();
  }
  while ((await job()).finished_at === null) await pause(200);
  const { status, result } = await job();
  const positions: number[] = [];
  for (let cursor = ''; ; ) {
    const page = (await service.get(`/v1/jobs/${body.id}/results?limit=1000${cursor}`, token)).body;
    for (const one of page.results) positions.push(Number(one.record_id.slice(1)));
    if (page.next_cursor === null) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  console.log(`evaluation of ${RECORDS} records: ${status}, ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  const inOrder = positions.filter((position, index) => position === index + 1).length;
  wanted('records with exactly one row, in order', inOrder, 'at least', RECORDS);
  wanted('rows', positions.length, 'at most', RECORDS);
  wanted('right answers', result.right, 'at least', RECORDS - Math.floor(RECORDS / 10));
  await service.stop();
  await engine.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function upgrade(databaseUrl: string): Promise<void> {
  await migrateBefore(databaseUrl, RECORDS_MIGRATION);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const run = (sql: string, values?: unknown[]) => client.query(sql, values);
  await addOldProject(run, { team: TEAM, project: PROJECT });
  const idOf = (n: number) => `dst_0199f2a4-7c1e-7a57-9d0e-${String(n).padStart(12, '0')}`;
  for (let n = 0; n < DATASETS; n++) {
    const history = [1, 2, 3].map((version) => oldRecords(n, version));
    await addOldDataset(run, { id: idOf(n), project: PROJECT, history });
  }
  console.log(`${DATASETS} datasets with 3 versions each, as the earlier release stores them`);

  const dataDir = await temporaryFolder();
  const start = () => Service.start({ databaseUrl, dataDir });
  const left = async () => Number((await client.query('SELECT count(*) FROM dataset_old_contents')).rows[0].count);
  let service = await start();
  for (let kill = 0; kill < KILLS; kill++) {
    await pause(300 + Math.random() * 2_000);
    await service.kill();
    console.log(`killed with ${await left()} contents left`);
    service = await start();
  }
  while ((await left()) > 0) await pause(200);
  const ada = await register(service, 'Ada');
  await client.query('UPDATE accounts SET team_id = $2 WHERE id = $1', [ada.id, TEAM]);
  wanted('versions that are equal through the API', await equal(service, ada, idOf), 'at least', 3 * DATASETS);
  await service.stop();
  await client.end();
  await rm(dataDir, { recursive: true, force: true });
}

async function equal(service: Service, { token }: Member, idOf: (n: number) => string): Promise<number> {
  const datasets = `/v1/projects/${PROJECT}/datasets`;
  let same = 0;
  for (let n = 0; n < DATASETS; n++) {
    for (const version of [1, 2, 3]) {
      const { body } = await service.get(`${datasets}/${idOf(n)}/versions/${version}`, token);
      const all = oldRecords(n, version);
      const isSame = JSON.stringify(body.records) === JSON.stringify(all) && body.content_sha256 === digestOf(all);
      if (isSame) same++;
      else console.log(`different: ${idOf(n)}@${version}`);
    }
  }
  return same;
}

async function verifyEmails(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('UPDATE accounts SET email_verified_at = now()');
  await client.end();
}

void main();
