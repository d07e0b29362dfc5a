import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { UsageRollUp, UsageService } from '../src/application/jobs/usage.service.js';
import { loadConfig } from '../src/bootstrap/config/config.js';
import { createContainer } from '../src/bootstrap/container.js';
import { usageBuckets, usageGroups } from '../src/domain/jobs/usage.js';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { createDataSource } from '../src/infrastructure/typeorm/data-source.js';
import { MemoryLogger } from '../tests/fakes/shared/memory-logger.js';
import { unlimited } from '../tests/support/records.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { type Member, register } from '../tests/support/workspace.js';
import { wanted } from './rounds.js';

/**
 * Stores a million calls of thirty days, by 20 accounts with 30 keys in 10 projects. Measures `GET /v1/usage` by each
 * bucket and group, and prints the scans of its statements. `npm run bench:usage [calls]`
 */
const CALLS = Number(process.argv[2] ?? 1_000_000);
const TARGET_MS = 100;
const LARGEST_SHARE = 0.1;
const ROUNDS = 9;
const PART = 20_000;
/** The number of calls that are stored last, after the others were rolled up. */
const WAITING = 1_000;

const env = { SERVICE_RATE_LIMIT_PER_MIN: '1000000', SERVICE_MAX_ACCOUNTS: '3' };

/** Half of the accounts have two keys. Of the calls, a fifth use a session, one in fifty fails, four in five stream. */
const CALLS_OF = `
  INSERT INTO jobs (id, team_id, kind, mode, status, project_id, model_id, requested_by, created_at, started_at, finished_at,
                    progress, error, process, usage, finish_number)
  SELECT 'job_' || gen_random_uuid(), $3, 'chat', 'sync', CASE WHEN failed THEN 'failed' ELSE 'succeeded' END,
         'prj_' || md5(project::text)::uuid, 'mdl_' || md5(project::text)::uuid,
         CASE account WHEN 0 THEN $4 WHEN 1 THEN $5 ELSE 'usr_' || md5(account::text)::uuid END,
         ended - latency * interval '1 second', ended - latency * interval '1 second', ended, '{"done":1,"total":1}',
         CASE WHEN failed THEN 'inference_timeout: it took too long' END, 1,
         json_build_object('keyId', CASE WHEN random() > 0.2 THEN 'key_' || md5(account || ' ' || key)::uuid END,
                           'tokensIn', (random() * 500)::integer, 'tokensOut', (random() * 200)::integer,
                           'firstToken', CASE WHEN random() < 0.8 THEN latency / 5 END,
                           'failure', CASE WHEN failed THEN 'inference_timeout' END),
         nextval('job_finish_numbers')
    FROM (SELECT now() - (30 * 86400 - 3600) * (1 - call / $6::float) * interval '1 second' AS ended,
                 0.2 + exp(2 * random()) * random() AS latency, random() < 0.02 AS failed,
                 floor(10 * random())::integer AS project, account, floor((1 + account % 2) * random())::integer AS key
            FROM (SELECT call, floor(20 * random())::integer AS account
                    FROM generate_series($1::integer, $2::integer) AS call) AS with_account
         ) AS calls`;

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const server = await startEmbeddedPostgres({ folder: join(folder, 'postgres') });
  const dataDir = await temporaryFolder();
  let service = await Service.start({ databaseUrl: server.url, dataDir, env });
  const [admin, member] = [await register(service, 'Ada'), await register(service, 'Mia')];
  await service.stop();

  const client = new Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query('SELECT team_id FROM accounts WHERE id = $1', [admin.id]);
  const add = (first: number, last: number) =>
    client.query(CALLS_OF, [first, last, rows[0].team_id, admin.id, member.id, CALLS]);

  const statements = new Map<string, unknown[]>();
  const logQuery = (text: string, values: unknown[] = []) => void statements.set(text, values);
  const logger = { logQuery, logQueryError: console.error } as never;
  const database = createDataSource(server.url).setOptions({ logging: ['query'], logger });
  await database.initialize();
  const config = loadConfig({ DATABASE_URL: server.url, SERVICE_DATA_DIR: folder });
  const container = createContainer({ config, database, logger: new MemoryLogger() });

  const begun = performance.now();
  let took = 0;
  for (let call = 1; call <= CALLS; call += PART) {
    await add(call, Math.min(call + PART - 1, CALLS));
    const start = performance.now();
    await container.get(UsageRollUp).execute();
    took += performance.now() - start;
  }
  console.log(`${CALLS} calls made in ${((performance.now() - begun - took) / 1000).toFixed(0)} s`);
  console.log(`rolled up: ${((1000 * CALLS) / took).toFixed(0)} calls/s`);
  await client.query('VACUUM ANALYZE');
  await add(CALLS - WAITING + 1, CALLS);
  const { rows: sizes } = await client.query(
    `SELECT relname, pg_total_relation_size(oid)::float AS bytes, reltuples::integer AS rows
       FROM pg_class WHERE relname IN ('jobs', 'usage_rollups') AND relnamespace = 'public'::regnamespace ORDER BY relname`,
  );
  for (const { relname, bytes, rows: count } of sizes)
    console.log(`${relname}: ${count} rows, ${(bytes / 1e6).toFixed(0)} MB`);

  service = await Service.start({ databaseUrl: server.url, dataDir, env });
  const now = Date.now() / 1000;
  const typical = usageBuckets.flatMap((bucket) =>
    ['', ...usageGroups.map((group) => `&group_by=${group}`)].map((group) => `?bucket=${bucket}${group}`),
  );
  const cut = [
    `?since=${now - 29.4 * 86_400}&bucket=day&group_by=key`,
    `?since=${now - 3 * 86_400}&until=${now - 3_000}&group_by=project`,
    `?since=${now - 6.5 * 86_400}&bucket=minute&group_by=account`,
    `?since=${now - 29.4 * 86_400}&group_by=account`,
  ];
  await medianOf(service, admin, '?bucket=day'); // warms the service up
  let longest = 0;
  for (const [name, by] of Object.entries({ admin, member })) {
    for (const query of ['', ...typical, ...cut]) {
      const { ms, entries } = await medianOf(service, by, query);
      longest = Math.max(longest, ms);
      console.log(`${name.padEnd(6)} ${ms.toFixed(1).padStart(6)} ms ${String(entries).padStart(6)} entries  ${query}`);
    }
  }

  statements.clear();
  const by = { kind: 'master' } as const;
  const request = { memory: unlimited, since: null, until: null, bucket: 'hour', groupBy: 'key' } as const;
  await container.get(UsageService).read(by, request);
  const since = new Date(1000 * (now - 2.4 * 86_400));
  await container
    .get(UsageService)
    .read(by, { ...request, since, until: new Date(1000 * (now - 5_000)), bucket: 'day' });
  const scans = new Set<string>();
  for (const [text, values] of statements) {
    if (!/^\s*SELECT/.test(text)) continue;
    const plan = await client.query(`EXPLAIN ${text}`, values);
    for (const line of plan.rows)
      for (const [scan] of line['QUERY PLAN'].matchAll(/\w+( \w+)* Scan.*? on \w+/g)) scans.add(scan);
  }
  console.log([...scans].sort().join('\n'));
  wanted('the size of the sums beside that of the jobs', sizes[1].bytes / sizes[0].bytes, 'at most', LARGEST_SHARE);
  wanted('the longest median', longest, 'at most', TARGET_MS, ' ms');
  const sequential = [...scans].filter((scan) => /Seq Scan.* on (jobs|usage_rollups)/.test(scan));
  wanted('sequential scans of calls or sums', sequential.length, 'at most', 0);

  await client.end();
  await database.destroy();
  await service.stop();
  await server.stop();
  for (const one of [folder, dataDir]) await rm(one, { recursive: true, force: true });
}

async function medianOf(service: Service, { token }: Member, query: string) {
  const times: number[] = [];
  let entries = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    const { status, body } = await service.get(`/v1/usage${query}`, token);
    times.push(performance.now() - begun);
    if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`);
    entries = body.count;
  }
  return { ms: times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number, entries };
}

void main();
