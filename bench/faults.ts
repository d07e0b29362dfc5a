import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { CutOffProxy } from '../tests/support/cut-off-proxy.js';
import { HttpCaller } from '../tests/support/http-caller.js';
import { masterKey } from '../tests/support/monitoring.js';
import { descendants } from '../tests/support/processes.js';
import { launch, type ServiceProcess, temporaryFolder } from '../tests/support/service.js';
import { type Member, register } from '../tests/support/workspace.js';
import { Calls } from './faults/calls.js';
import { wanted } from './rounds.js';

/**
 * Shows what callers notice when the database goes away and comes back. The real service uses a real PostgreSQL, which
 * fails in several ways. `npm run bench:faults [part of a fault's name]`
 */
const ONLY = process.argv[2] ?? '';
/** The longest permitted wait for a refusal. */
const MOST_WAIT_MS = 5_000;
/** The longest permitted time in which calls may still fail after the database is back. */
const MOST_RECOVERY_MS = 10_000;
/** More callers than the service has connections. */
const CALLERS = 24;
/** The connections of the pool that may be in use at rest. One of them shows that the instance lives. */
const OWN_CONNECTIONS = 2;
/** The size of the service's pool of connections. */
const MOST_CONNECTIONS = 16;
/** The time after which PostgreSQL has closed connections that the service has lost. */
const CLOSING_MS = 90_000;
/** The time after which all running calls have ended. */
const AFTERWARDS_MS = 6_000;

interface Fault {
  readonly name: string;
  readonly callers: number;
  /** Causes the fault. Calls `gone` just before the first call can fail, and resolves when the database is back. */
  readonly happen: (gone: () => void) => Promise<void>;
}

interface Row {
  readonly fault: string;
  readonly refused: number;
  /** The longest call. It may have begun before the fault and waited for other callers then. */
  readonly longestWaitMs: number;
  /** The longest time of a call since the fault. */
  readonly sinceFaultMs: number;
  readonly firstAnswerMs: number;
  readonly lastRefusalMs: number;
  readonly status401: number;
  readonly others: string;
  readonly samePid: boolean;
  readonly connectionsLeft: number;
  /** The longest time in which the callers got no processor. The other times are no more exact than this. */
  readonly machineMs: number;
  readonly ok: boolean;
}

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const postgres = join(folder, 'postgres');
  const server = await startEmbeddedPostgres({ folder: postgres, maxConnections: 400 });
  const postmaster = () => Number.parseInt(readFileSync(join(postgres, 'data/postmaster.pid'), 'utf8'), 10);
  const proxy = await CutOffProxy.before(server.url);
  const rows: Row[] = [];

  proxy.cut();
  const running = launch({ dataDir: folder, databaseUrl: proxy.url, env: { SERVICE_MASTER_KEY: masterKey } });
  await untilPrinted(running, 'waiting for the database');
  await pause(1_000);
  proxy.reopen();
  const back = performance.now();
  const api = new HttpCaller(await running.ready);
  const started = performance.now() - back;
  const pid = running.child.pid;
  const admin = await register(api, 'Ada');

  const cut = (ms: number) => async (gone: () => void) => {
    gone();
    proxy.cut();
    await pause(ms);
    proxy.reopen();
  };
  const silent = (ms: number) => async (gone: () => void) => {
    gone();
    proxy.silence();
    await pause(ms);
    proxy.reopen();
  };
  const frozen = (ms: number) => async (gone: () => void) => {
    const all = [postmaster(), ...descendants(postmaster())];
    gone();
    for (const one of all) process.kill(one, 'SIGSTOP');
    await pause(ms);
    for (const one of all.reverse()) process.kill(one, 'SIGCONT');
  };
  const ended = (signal: NodeJS.Signals) => async (gone: () => void) => {
    const before = postmaster();
    gone();
    process.kill(before, signal);
    await untilAnswering(server.url, () => postmaster() !== before);
  };
  const faults: Fault[] = [
    { name: 'cut while idle', callers: 1, happen: cut(2_000) },
    { name: 'cut under load', callers: CALLERS, happen: cut(2_000) },
    ...[0.5, 1, 2, 3.9, 5, 20].flatMap((seconds) => [
      { name: `silent for ${seconds} s, one caller`, callers: 1, happen: silent(seconds * 1_000) },
      { name: `silent for ${seconds} s, load`, callers: CALLERS, happen: silent(seconds * 1_000) },
    ]),
    { name: 'frozen for 2 s, load', callers: CALLERS, happen: frozen(2_000) },
    { name: 'frozen for 8 s, load', callers: CALLERS, happen: frozen(8_000) },
    { name: 'killed while idle', callers: 1, happen: ended('SIGKILL') },
    { name: 'killed under load', callers: CALLERS, happen: ended('SIGKILL') },
    { name: 'restarted under load', callers: CALLERS, happen: ended('SIGINT') },
  ];

  for (const fault of faults.filter(({ name }) => name.includes(ONLY))) {
    const row = await measure(fault, api, admin, running, pid);
    if (!row.samePid) console.log(running.errors().slice(-3_000));
    console.log(JSON.stringify(row));
    rows.push(row);
  }
  console.log(`cut at its start: ready ${Math.round(started)} ms after the database was back`);
  console.table(rows);
  console.log(
    `bounds: longestWaitMs ${MOST_WAIT_MS}, firstAnswerMs and lastRefusalMs ${MOST_RECOVERY_MS}, others none`,
  );
  const left = await leastConnections(server.url);
  wanted('faults beyond their bounds', rows.filter(({ ok }) => !ok).length, 'at most', 0);
  wanted('connections that the server still has', left, 'at most', MOST_CONNECTIONS);
  running.child.kill('SIGTERM');
  console.log(`exit code ${await running.ended}`);
  await proxy.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measure(
  { name, callers, happen }: Fault,
  api: HttpCaller,
  admin: Member,
  running: ServiceProcess,
  pid: number | undefined,
): Promise<Row> {
  const calls = new Calls(api, admin, callers);
  const pauses = monitorEventLoopDelay({ resolution: 10 });
  pauses.enable();
  await pause(1_500);
  let gone = 0;
  await happen(() => {
    gone = performance.now();
  });
  const back = performance.now();
  await pause(AFTERWARDS_MS);
  await calls.stop();
  const since = calls.made.filter(({ ended }) => ended >= gone);
  const refused = since.filter(({ outcome }) => outcome === '503 storage_unavailable');
  const done = since.filter(({ outcome, ended }) => outcome === 'done' && ended >= back);
  const others = new Set(calls.made.map(({ outcome }) => outcome));
  for (const expected of ['done', '503 storage_unavailable']) others.delete(expected);
  const row = {
    fault: name,
    refused: refused.length,
    longestWaitMs: Math.round(Math.max(0, ...since.map(({ begun, ended }) => ended - begun))),
    sinceFaultMs: Math.round(Math.max(0, ...since.map(({ begun, ended }) => ended - Math.max(begun, gone)))),
    firstAnswerMs: Math.round(Math.min(...done.map(({ ended }) => ended)) - back),
    lastRefusalMs: Math.round(Math.max(0, ...refused.map(({ ended }) => ended - back))),
    status401: calls.made.filter(({ outcome }) => outcome.startsWith('401')).length,
    others: [...others].join(', '),
    samePid: running.child.pid === pid && running.child.exitCode === null,
    connectionsLeft: (await inUse(api)) - OWN_CONNECTIONS,
    machineMs: Math.round(pauses.max / 1e6),
  };
  const ok =
    row.longestWaitMs <= MOST_WAIT_MS &&
    row.firstAnswerMs <= MOST_RECOVERY_MS &&
    row.lastRefusalMs <= MOST_RECOVERY_MS &&
    row.others === '' &&
    row.samePid &&
    row.connectionsLeft <= 0;
  return { ...row, ok };
}

/** Returns the used connections of the pool: the least of 20 samples, because some are in use only for a moment. */
async function inUse(api: HttpCaller): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 20; look++) {
    const { body } = await api.get('/metrics', masterKey).catch(() => ({ body: '' }));
    const [total, idle] = ['connections', 'idle_connections'].map((name) =>
      Number(new RegExp(`^tenon_database_pool_${name} (\\d+)$`, 'm').exec(body)?.[1]),
    ) as [number, number];
    least = Math.min(least, total - idle);
    await pause(50);
  }
  return least;
}

async function untilPrinted(running: ServiceProcess, text: string): Promise<void> {
  while (!running.errors().includes(text)) await pause(20);
}

/** Waits until PostgreSQL has closed lost connections. Returns the least number of the service's connections. */
async function leastConnections(url: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (const until = performance.now() + CLOSING_MS; least > MOST_CONNECTIONS && performance.now() < until; ) {
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      `SELECT count(*)::integer AS n FROM pg_stat_activity WHERE application_name = 'tenon'`,
    );
    await client.end();
    least = Math.min(least, rows[0].n);
    await pause(500);
  }
  return least;
}

/** Resolves when PostgreSQL answers and `isNew` returns true. */
async function untilAnswering(url: string, isNew: () => boolean): Promise<void> {
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('SELECT');
      if (isNew()) return;
    } catch {
      // not yet
    } finally {
      await client.end().catch(() => undefined);
    }
    await pause(20);
  }
}

void main();
