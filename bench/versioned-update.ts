import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import { Authenticator } from '../src/application/accounts/authenticator.js';
import { ProjectService } from '../src/application/workspace/project.service.js';
import { loadConfig } from '../src/bootstrap/config/config.js';
import { createContainer } from '../src/bootstrap/container.js';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { createDataSource } from '../src/infrastructure/typeorm/data-source.js';
import { MemoryLogger } from '../tests/fakes/shared/memory-logger.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { createProject, register } from '../tests/support/workspace.js';
import { median } from './rounds.js';

/**
 * Measures the versioned updates of projects per second: by calls of `ProjectService`, by the service over HTTP, and by
 * a bare transaction (BEGIN, a guarded UPDATE, an INSERT of the version, COMMIT). All use the same PostgreSQL server and
 * the same number of callers, and take turns in each round. `npm run bench:versioned-update [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const ROUND_MS = 2_000;
const CALLERS = 8;
const TARGET = 0.5;

const spec = { goal: 'Answer questions about capitals', task: 'chat', notes: 'x'.repeat(1_000) };

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const server = await startEmbeddedPostgres({ folder: join(folder, 'postgres') });
  const service = await Service.start({ databaseUrl: server.url });
  const database = await createDataSource(server.url).initialize();
  const config = loadConfig({ DATABASE_URL: server.url, SERVICE_DATA_DIR: folder });
  const container = createContainer({ config, database, logger: new MemoryLogger() });
  const pool = new Pool({ connectionString: server.url, max: CALLERS });
  const { token } = await register(service, 'Ada');
  const by = await container.get(Authenticator).identify(token);
  const projects = container.get(ProjectService);
  const { signal } = new AbortController();
  const ids = await Promise.all(Array.from({ length: CALLERS }, () => createProject(service, token)));
  const versions = new Map(ids.map((id) => [id, 1]));

  const contenders: Record<string, (id: string, version: number) => Promise<unknown>> = {
    bare: (id, version) => transaction(pool, id, version),
    'use case': (projectId, version) => projects.update(by, { projectId, expected: [version], signal, spec }),
    HTTP: async (id, version) => {
      const { status, body } = await service.put(`/v1/projects/${id}`, token, { version, spec });
      if (status !== 200) throw new Error(`${status} ${body.code}: ${body.error}`);
    },
  };
  const rateOf = (act: (id: string, version: number) => Promise<unknown>) =>
    rate(ids, async (id) => {
      const version = versions.get(id) as number;
      await act(id, version);
      versions.set(id, version + 1);
    });

  const rates: Record<string, number[]> = {};
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, act] of Object.entries(contenders)) {
      const perSecond = await rateOf(act);
      // The first round warms up.
      if (round > 0) rates[name] = [...(rates[name] ?? []), perSecond];
    }
  }
  const [bare = [], ...others] = Object.values(rates);
  console.log(`bare transaction  ${median(bare).toFixed(0)}/s with ${CALLERS} callers`);
  const ratios = others.map((ours) => median(ours.map((one, round) => one / (bare[round] as number))));
  for (const [index, name] of ['use case', 'HTTP'].entries()) {
    console.log(`${name.padEnd(17)} ${median(others[index] ?? []).toFixed(0)}/s, ratio ${ratios[index]?.toFixed(2)}`);
  }
  const reached = (ratios[0] ?? 0) >= TARGET;
  console.log(`the use case's ratio is ${reached ? 'at least' : 'below'} ${TARGET}`);
  if (!reached) process.exitCode = 1;
  await pool.end();
  await database.destroy();
  await service.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Returns the calls per second, with one caller for each id. */
async function rate(ids: readonly string[], act: (id: string) => Promise<void>): Promise<number> {
  const begun = performance.now();
  let done = 0;
  const caller = async (id: string) => {
    for (; performance.now() - begun < ROUND_MS; done++) await act(id);
  };
  await Promise.all(ids.map(caller));
  return (done * 1_000) / (performance.now() - begun);
}

async function transaction(pool: Pool, id: string, version: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const values = [id, version, JSON.stringify(spec)];
    const { rowCount } = await client.query(
      'UPDATE projects SET spec = $3, version = version + 1, updated_at = now() WHERE id = $1 AND version = $2',
      values,
    );
    if (rowCount !== 1) throw new Error('another version');
    await client.query(
      `INSERT INTO project_versions (project_id, version, name, spec, created_by, created_at)
       VALUES ($1, $2::integer + 1, 'Capitals', $3, 'usr_1', now())`,
      values,
    );
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

void main();
