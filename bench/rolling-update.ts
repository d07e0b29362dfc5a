import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { RELEASE } from '../src/infrastructure/typeorm/releases.js';
import { HttpCaller } from '../tests/support/http-caller.js';
import { ADDITIONS, copyAsRelease } from '../tests/support/other-release.js';
import { hasCaddy, Instances, Load, slowly, startCaddy } from '../tests/support/rolling-update.js';
import { ScriptedEngine } from '../tests/support/scripted-engine.js';
import { readyProject, register } from '../tests/support/workspace.js';
import { Stage } from './peers.js';
import { told, wanted } from './rounds.js';

/**
 * Replaces three instances behind Caddy, one after another, by the next release, which has one more migration of all
 * tables. Callers of chats and streams call all the time. Shows what they see. Needs Debian's package `caddy`.
 * `npm run bench:rolling-update [callers] [updates]`
 */
const CALLERS = Number(process.argv[2] ?? 32);
const UPDATES = Number(process.argv[3] ?? 1);
const INSTANCES = 3;
/** The time of load before and after an update. */
const AROUND_MS = 3_000;

async function main(): Promise<void> {
  if (!hasCaddy()) throw new Error('this benchmark needs caddy: install it, or name it in CADDY');
  for (let update = 1; update <= UPDATES; update++) await updated(update);
}

async function updated(update: number): Promise<void> {
  const stage = await Stage.open();
  const engine = await ScriptedEngine.start();
  engine.script = slowly;
  const databaseUrl = await stage.database(`update_${update}`);
  const env = {
    SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host,
    SERVICE_TRUST_PROXY: 'loopback',
    SERVICE_DRAIN_DELAY_S: '3', // as docker/instances.Caddyfile says
  };
  const instances = await Instances.start(INSTANCES, { databaseUrl, dataDir: stage.folder, env });
  const caddy = await startCaddy(stage.folder, instances.ports);
  try {
    const service = new HttpCaller(caddy.url);
    const ada = await register(service, 'Ada');
    const project = await readyProject(service, ada.token, { runtime: 'openai', base_url: engine.url, model: 'm' });
    const place = join(stage.folder, 'next');
    mkdirSync(place);
    const next = copyAsRelease(place, {
      number: RELEASE.number + 1,
      version: '0.0.0-next',
      migrations: { additions: ADDITIONS },
    });
    const load = new Load(caddy.url, project, ada);
    load.start(CALLERS);
    await pause(AROUND_MS);
    const begun = performance.now();
    await instances.replace(next);
    told(`the update of all instances, begun after ${AROUND_MS / 1_000} s`, (performance.now() - begun) / 1_000, ' s');
    await pause(AROUND_MS);
    await load.stop();
    for (const [kind, count] of Object.entries(load.counts)) told(kind, count);
    for (const failure of load.failures.slice(0, 20)) console.log(`       ${failure}`);
    wanted(`failed calls of ${CALLERS} callers`, load.failures.length, 'at most', 0);
    const lost = Math.abs((await succeeded(databaseUrl)) - load.answered);
    wanted('difference of succeeded jobs and answers', lost, 'at most', 0);
  } finally {
    caddy.stop();
    await instances.stop();
    await engine.close();
    await stage.close();
  }
}

/** Returns the number of jobs that succeeded. Throws if a job has another status. */
async function succeeded(databaseUrl: string): Promise<number> {
  const client = new Client(databaseUrl);
  await client.connect();
  const { rows } = await client.query<{ status: string; count: number }>(
    'SELECT status, count(*)::integer AS count FROM jobs GROUP BY status',
  );
  await client.end();
  for (const { status, count } of rows) if (status !== 'succeeded') console.log(`       ${count} jobs are ${status}`);
  return rows.find(({ status }) => status === 'succeeded')?.count ?? 0;
}

void main();
