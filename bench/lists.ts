import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { type Fill, fillDatabase } from '../tests/support/full-database.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { createProject, type Member, register } from '../tests/support/workspace.js';
import { median, wanted } from './rounds.js';

/**
 * Calls every list, filter and usage query, first with few rows and then with a million jobs and 200,000 audit entries.
 * The rows of the first round are as many as a page shows, so both rounds have answers of the same length.
 * `npm run bench:lists [jobs]`
 */
const JOBS = Number(process.argv[2] ?? 1_000_000);
const ENTRIES = JOBS / 5;
const FEW = 2_000;
const MOST_RATIO = 3;
const ROUNDS = 15;

const env = { SERVICE_RATE_LIMIT_PER_MIN: '1000000', SERVICE_MAX_ACCOUNTS: '3' };

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const few = await measured(join(folder, 'few'), { jobs: FEW, entries: FEW, rare: 10 });
  const full = await measured(join(folder, 'full'), { jobs: JOBS, entries: ENTRIES });
  let worst = 0;
  for (const [at, { path, ms }] of full.entries()) {
    const before = few[at] as Measured;
    worst = Math.max(worst, ms / before.ms);
    const columns = [before.ms, ms].map((each) => `${each.toFixed(1).padStart(6)} ms`);
    console.log(`${columns.join(' ')} ${(ms / before.ms).toFixed(1).padStart(5)}  ${path}`);
  }
  wanted('the largest ratio', worst, 'at most', MOST_RATIO);
  await rm(folder, { recursive: true, force: true });
}

interface Measured {
  readonly path: string;
  readonly ms: number;
}

/** Returns the median time of each query. */
async function measured(folder: string, size: Pick<Fill, 'jobs' | 'entries' | 'rare'>): Promise<Measured[]> {
  const server = await startEmbeddedPostgres({ folder });
  const dataDir = await temporaryFolder();
  const service = await Service.start({ databaseUrl: server.url, dataDir, env });
  const admin = await register(service, 'Ada');
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query('SELECT team_id FROM accounts WHERE id = $1', [admin.id]);
  const projectId = await createProject(service, admin.token);
  await fillDatabase(server.url, { teamId: rows[0].team_id, projectId, accountId: admin.id, ...size });
  await client.end();
  const times: Measured[] = [];
  for (const path of paths(projectId, admin)) times.push({ path, ms: await medianOf(service, admin, path) });
  await service.stop();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
  return times;
}

function paths(projectId: string, { id }: Member): string[] {
  const now = Date.now() / 1000;
  const day = (ago: number) => Math.floor(now - ago * 86_400);
  const kinds = ['', ...['chat', 'embedding', 'prediction', 'external', 'evaluation'].map((kind) => `&kind=${kind}`)];
  const statuses = ['', '&status=failed', '&status=cancelled', '&status=running'];
  const jobs = ['', `&project_id=${projectId}`].flatMap((project) =>
    kinds.flatMap((kind) => statuses.map((status) => `/v1/jobs?limit=100${project}${kind}${status}`)),
  );
  const audit = [
    '',
    '&action=model_alias',
    '&action=model_alias.moved',
    `&actor=${id}`,
    '&actor=usr_rare',
    '&object=key_7',
  ].flatMap((filter) => ['', `&from=${day(200)}&to=${day(199)}`].map((time) => `/v1/audit?limit=100${filter}${time}`));
  const usage = ['minute', 'hour', 'day'].flatMap((bucket) =>
    ['', '&group_by=project', '&group_by=model', '&group_by=key', '&group_by=account'].map(
      (group) => `/v1/usage?bucket=${bucket}&since=${day(2)}${group}`,
    ),
  );
  return [...jobs, ...audit, ...usage, '/v1/projects', '/v1/alerts', '/v1/status'];
}

async function medianOf(service: Service, { token }: Member, path: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    const { status, body } = await service.get(path, token);
    times.push(performance.now() - begun);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  }
  return median(times);
}

void main();
