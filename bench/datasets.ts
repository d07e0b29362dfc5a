import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { DatasetRecord } from '../src/domain/workspace/dataset-record.js';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { digestOf } from '../tests/support/old-datasets.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { createProject, register } from '../tests/support/workspace.js';
import { median, wanted } from './rounds.js';

/**
 * Imports a dataset of 100,000 records with 40 MB in each form, and measures what is done with it.
 * `npm run bench:datasets [records]`
 */
const RECORDS = Number(process.argv[2] ?? 100_000);
/** The length of a record as JSON. */
const LENGTH = 400;
const PATCHES = 50;
const MB = 1024 * 1024;
const BIN = join(__dirname, '../../bin/tenon.cjs');
let token = '';

const env = {
  SERVICE_DATASET_RECORDS: '100000',
  SERVICE_DATASET_IMPORT_MB: '64',
  SERVICE_SECRET: 'secret-of-the-bench',
};

function recordOf(n: number): DatasetRecord {
  const start = { id: `record-${n}`, group: `group ${n % 20}`, input: `What is ${n}? `, expected: `It is ${n}.` };
  const missing = LENGTH - JSON.stringify({ ...start, fields: {} }).length;
  return { ...start, input: start.input + 'lorem ipsum '.repeat(LENGTH).slice(0, Math.max(0, missing)), fields: {} };
}

/** Returns the greatest resident memory of a process so far, in MB. */
function peakOf(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

const seconds = async <T>(act: () => Promise<T>): Promise<[number, T]> => {
  const begun = performance.now();
  const result = await act();
  return [(performance.now() - begun) / 1000, result];
};

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const server = await startEmbeddedPostgres({ folder: join(folder, 'database') });
  const client = new Client({ connectionString: server.url });
  await client.connect();
  try {
    const records = Array.from({ length: RECORDS }, (_, n) => recordOf(n));
    for (const [type, raw] of bodies(records))
      await withService(server.url, async (on) => void (await importBody(on, records, type, raw)));
    await withService(server.url, (on) => measure(on, client, records));
    await client.query('CREATE DATABASE restored');
    await backup(folder, server.url, server.url.replace(/\/[^/?]*(\?|$)/, '/restored$1'));
  } finally {
    await client.end();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Backs up a database with all datasets, and restores it into another one. */
async function backup(folder: string, from: string, to: string): Promise<void> {
  const file = join(folder, 'backup');
  for (const [command, url] of [
    ['backup', from],
    ['restore', to],
  ] as const) {
    const dataDir = await temporaryFolder();
    const [time, peak] = await seconds(() => peakOfCommand([command, file], { DATABASE_URL: url, dataDir }));
    wanted(`${command} (s)`, time, 'at most', 120);
    wanted(`resident memory of ${command}, at most (MB)`, peak, 'at most', 300);
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Runs a command, and returns the greatest memory that it had when somebody looked. */
async function peakOfCommand(
  args: readonly string[],
  { DATABASE_URL, dataDir }: { DATABASE_URL: string; dataDir: string },
): Promise<number> {
  const own = { PATH: process.env.PATH, DATABASE_URL, SERVICE_DATA_DIR: dataDir, ...env };
  const child = spawn(process.execPath, [BIN, ...args], { env: own, stdio: 'inherit' });
  let peak = 0;
  const look = setInterval(() => {
    if (existsSync(`/proc/${child.pid}`)) peak = Math.max(peak, peakOf(child.pid as number) || 0);
  }, 20);
  const [code] = await once(child, 'exit');
  clearInterval(look);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}`);
  return peak;
}

/** The memory of a process never shrinks, so each form of an import gets a service of its own. */
async function withService(databaseUrl: string, work: (service: Service) => Promise<void>): Promise<void> {
  const dataDir = await temporaryFolder();
  const service = await Service.start({ databaseUrl, dataDir, env });
  try {
    await work(service);
  } finally {
    await service.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function importBody(
  service: Service,
  records: readonly DatasetRecord[],
  type: string,
  raw: string,
): Promise<{ datasets: string; id: string }> {
  if (token === '') ({ token } = await register(service, 'Ada'));
  const datasets = `/v1/projects/${await createProject(service, token)}/datasets`;
  const headers = { 'Content-Type': type };
  const [time, { status, body }] = await seconds(() => service.call('POST', datasets, { token, raw, headers }));
  if (status !== 201 || body.content_sha256 !== digestOf(records))
    throw new Error(`import of ${type}: ${status} ${JSON.stringify(body).slice(0, 500)}`);
  console.log(`${body.record_count} records, ${(raw.length / MB).toFixed(1)} MB of ${type}`);
  wanted('import (s)', time, 'at most', 60);
  wanted('resident memory, at most (MB)', peakOf(service.pid), 'at most', 300);
  return { datasets, id: body.id };
}

async function measure(service: Service, client: Client, records: readonly DatasetRecord[]): Promise<void> {
  const [[type, raw]] = [...bodies(records)] as [[string, string]];
  const { datasets, id } = await importBody(service, records, type, raw);
  const call = async (method: string, path: string, json?: object) => {
    const [time, answer] = await seconds(() =>
      service.call(method, `${datasets}/${path}`, { token, ...(json && { json }) }),
    );
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return { time, body: answer.body };
  };

  await call('GET', id);
  const first = [];
  for (let n = 0; n < 9; n++) first.push((await call('GET', id)).time * 1000);
  wanted('first page of 500 records (ms)', median(first), 'at most', 200);

  const lsn = async () => (await client.query("SELECT pg_current_wal_lsn() - '0/0' AS at")).rows[0].at;
  const updates: number[] = [];
  const before = Number(await lsn());
  for (let version = 1; version <= PATCHES; version++) {
    const record = `record-${Math.floor((version * RECORDS) / (PATCHES + 1))}`;
    updates.push((await call('PATCH', `${id}/records/${record}`, { version, expected: `new ${version}` })).time * 1000);
  }
  const written = (Number(await lsn()) - before) / PATCHES;
  wanted('an update of one record writes, in lengths of the record', written / LENGTH, 'at most', 100);
  wanted('an update of one record (ms)', median(updates), 'at most', 200);

  const times = { newest: [] as number[], oldest: [] as number[] };
  for (let n = 0; n < 15; n++)
    for (const [name, version] of [
      ['newest', PATCHES + 1],
      ['oldest', 1],
    ] as const)
      times[name].push((await call('GET', `${id}/records?limit=500&cursor=${version}:${RECORDS / 2}`)).time);
  const [newest, oldest] = [median(times.newest), median(times.oldest)];
  wanted('a page of the first version, as a part of the same page of the newest', oldest / newest, 'at most', 1.5);

  const frozen = await call('POST', `${id}/freeze`);
  const changed = records.map((record, n) => {
    for (let version = 1; version <= PATCHES; version++)
      if (n === Math.floor((version * RECORDS) / (PATCHES + 1))) return { ...record, expected: `new ${version}` };
    return record;
  });
  const right = digestOf(changed);
  if (frozen.body.content_sha256 !== right) throw new Error('the digest of the frozen dataset is wrong');
  wanted('freeze, with the digest (s)', frozen.time, 'at most', 5);
  const forked = await call('POST', `${id}/fork`);
  wanted('fork (s)', forked.time, 'at most', 60);
  wanted('comparison with the first version (s)', (await call('GET', `${id}/compare?with=1`)).time, 'at most', 5);
  wanted('search without a match (s)', (await call('GET', `${id}/records?q=nowhere`)).time, 'at most', 5);
  wanted('findings (s)', (await call('GET', `${id}/records?finding=empty_input`)).time, 'at most', 5);
  wanted('export (s)', (await call('GET', `${id}/export`)).time, 'at most', 60);
  const whole = { version: 1, records: changed.map((record, n) => (n === 7 ? { ...record, group: null } : record)) };
  // Otherwise the automatic one may write for the records of the fork meanwhile.
  await client.query('VACUUM');
  const start = Number(await lsn());
  wanted(
    'an update with all records, one of them changed (s)',
    (await call('PUT', forked.body.id, whole)).time,
    'at most',
    60,
  );
  wanted('it writes, in lengths of a record', (Number(await lsn()) - start) / LENGTH, 'at most', 100);
  console.log(`resident memory after all of it: ${peakOf(service.pid).toFixed(0)} MB`);
}

function* bodies(records: readonly DatasetRecord[]): Generator<[type: string, raw: string]> {
  yield ['application/x-ndjson', records.map((record) => JSON.stringify(record)).join('\n')];
  yield [
    'text/csv',
    [
      'id,group,input,expected',
      ...records.map(({ id, group, input, expected }) => [id, group, input, expected].join(',')),
    ].join('\n'),
  ];
  yield ['application/json', JSON.stringify({ records })];
}

void main();
