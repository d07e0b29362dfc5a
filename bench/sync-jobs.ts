import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { AlertRuleService } from '../src/application/alerts/alert-rule.service.js';
import { loadConfig } from '../src/bootstrap/config/config.js';
import { createContainer } from '../src/bootstrap/container.js';
import type { RuleInput } from '../src/domain/alerts/alert-rule.js';
import type { FinishedJob } from '../src/domain/jobs/job.js';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { createDataSource } from '../src/infrastructure/typeorm/data-source.js';
import { migrate } from '../src/infrastructure/typeorm/migrate.js';
import { MemoryLogger } from '../tests/fakes/shared/memory-logger.js';
import { JobsModel } from '../tests/support/jobs-model.js';
import { temporaryFolder } from '../tests/support/service.js';
import type { FinisherReport } from './finisher.js';
import { figures, wanted } from './rounds.js';

/**
 * Makes 300 calls a second in two processes, while ten alert rules exist. Each call is a job of mode `sync`. Measures
 * the time from the end of a call until the database holds that end. Compares the stored alerts with those that the
 * rules give for the jobs in their stored order.
 * `npm run bench:sync-jobs [seconds] [jobs a second]`
 */
const SECONDS = Number(process.argv[2] ?? 20);
const RATE = Number(process.argv[3] ?? 300);
const PROCESSES = 2;

const rules: RuleInput[] = [1, 2, 3, 5, 8].flatMap((threshold): RuleInput[] => [
  {
    name: `${threshold} in a row`,
    ruleType: 'consecutive_failures',
    threshold,
    jobKind: threshold % 2 ? null : 'chat',
  },
  { name: `over ${threshold}`, ruleType: 'job_duration_exceeded', threshold: 0.018 + threshold / 200 },
]);

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const server = await startEmbeddedPostgres({ folder: join(folder, 'postgres') });
  await migrate(server.url);
  const database = await createDataSource(server.url).initialize();
  const config = loadConfig({ SERVICE_SECRET: 'secret-of-the-benchmark', SERVICE_DATA_DIR: folder });
  const container = createContainer({ config, database, logger: new MemoryLogger() });
  const ids: string[] = [];
  for (const rule of rules) ids.push((await container.get(AlertRuleService).create({ kind: 'master' }, rule)).id);

  const args = [server.url, String(RATE / PROCESSES), String(SECONDS)];
  const finisher = join(__dirname, 'finisher.js');
  const children = Array.from({ length: PROCESSES }, () => fork(finisher, args, { execArgv: [] }));
  const messageOf = async (child: ChildProcess) => (await once(child, 'message'))[0];
  await Promise.all(children.map(messageOf));
  const begun = performance.now();
  const promised = children.map(messageOf);
  for (const child of children) child.send('go');
  const reports = (await Promise.all(promised)) as FinisherReport[];
  const took = (performance.now() - begun) / 1000;

  const waits = reports.flatMap((report) => report.waits);
  const refused = reports.flatMap((report) => report.refused);
  console.log(
    `${waits.length} jobs in ${took.toFixed(1)} s: ${(waits.length / took).toFixed(0)}/s on ${PROCESSES} processes`,
  );
  console.log(`wait for the end to be stored  ${figures(waits)}`);
  if (refused.length > 0) console.log(refused[0]);
  wanted('refused calls', refused.length, 'at most', 0);
  const { fired, missing, wrong } = await checked(server.url, ids);
  console.log(`alerts ${fired}`);
  wanted('wrong or missing alerts', wrong + missing, 'at most', 0);

  await Promise.all(children.map((child) => (child.exitCode === null ? once(child, 'exit') : null)));
  await database.destroy();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Counts the stored alerts, the wrong ones among them, and the missing ones. */
async function checked(url: string, ids: readonly string[]) {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows: jobs } = await client.query<FinishedJob>(
    `SELECT id, kind, status, started_at AS "startedAt", finished_at AS "finishedAt" FROM jobs
      WHERE finish_number IS NOT NULL ORDER BY finish_number`,
  );
  const { rows: alerts } = await client.query<{ key: string }>(`SELECT rule_id || ' ' || job_id AS key FROM alerts`);
  await client.end();
  const expected = new Set(rules.flatMap((rule, index) => expectedOf(rule, jobs).map((job) => `${ids[index]} ${job}`)));
  const fired = new Set(alerts.map(({ key }) => key));
  const missing = [...expected].filter((key) => !fired.has(key)).length;
  const wrong = alerts.length - [...fired].filter((key) => expected.has(key)).length;
  return { fired: alerts.length, missing, wrong };
}

/**
 * Returns the ids of the jobs that fire the rule. `JobsModel` evaluates the whole history for each job, which is slow.
 * So the jobs are split before each success, and each part gets a `JobsModel` of its own.
 */
function expectedOf({ ruleType, threshold, jobKind = null }: RuleInput, jobs: readonly FinishedJob[]): string[] {
  const parts: FinishedJob[][] = [[]];
  for (const job of jobs) {
    if (jobKind !== null && job.kind !== jobKind) continue;
    if (job.status === 'succeeded') parts.push([]);
    parts.at(-1)?.push(job);
  }
  return parts.flatMap((part) => {
    const model = new JobsModel();
    for (const job of part) model.history.push(job);
    return model.preview({ ruleType, threshold, jobKind });
  });
}

void main();
