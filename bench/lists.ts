import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { type Fill, fillDatabase } from '../tests/support/full-database.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { createProject, type Member, register } from '../tests/support/workspace.js';
import { median, wanted } from './rounds.js';

/**
 * Calls every list, filter and usage query on a service with few rows, and in turn on one with a million jobs and 200,000
 * audit entries. The few rows are as many as a page shows, so that both have answers of the same length.
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
  const few = await opened(join(folder, 'few'), { jobs: FEW, entries: FEW, rare: 10 });
  const full = await opened(join(folder, 'full'), { jobs: JOBS, entries: ENTRIES });
  let worst = 0;
  for (const [at, path] of full.paths.entries()) {
    const times: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      times[0].push(await few.timeOf(few.paths[at] as string));
      times[1].push(await full.timeOf(path));
    }
    const [before, after] = [median(times[0]), median(times[1])];
    worst = Math.max(worst, after / before);
    const columns = [before, after].map((ms) => `${ms.toFixed(1).padStart(6)} ms`);
    console.log(`${columns.join(' ')} ${(after / before).toFixed(1).padStart(5)}  ${path}`);
  }
  wanted('the largest ratio', worst, 'at most', MOST_RATIO);
  for (const { close } of [few, full]) await close();
  await rm(folder, { recursive: true, force: true });
}

/** Starts a service on a database of this size. */
async function opened(folder: string, size: Pick<Fill, 'jobs' | 'entries' | 'rare'>) {
  const server = await startEmbeddedPostgres({ folder });
  const dataDir = await temporaryFolder();
  const service = await Service.start({ databaseUrl: server.url, dataDir, env });
  const admin = await register(service, 'Ada');
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query('SELECT team_id FROM accounts WHERE id = $1', [admin.id]);
  await client.end();
  const projectId = await createProject(service, admin.token);
  await fillDatabase(server.url, { teamId: rows[0].team_id, projectId, accountId: admin.id, ...size });
  return {
    paths: paths(projectId, admin),
    timeOf: async (path: string): Promise<number> => {
      const begun = performance.now();
      const { status, body } = await service.get(path, admin.token);
      if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
      return performance.now() - begun;
    },
    close: async () => {
      await service.stop();
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
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

void main();
