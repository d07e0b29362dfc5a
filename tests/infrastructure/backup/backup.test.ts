import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { writeBackup } from '../../../src/infrastructure/backup/backup-file.js';
import { ownMark } from '../../../src/infrastructure/files/leftovers.js';
import { withoutTimeLimit } from '../../../src/infrastructure/typeorm/backup/dump-database.js';
import { createMigrationSource, migrationNames } from '../../../src/infrastructure/typeorm/data-source.js';
import { type Ran, tenon } from '../../support/command-line.js';
import { freshDatabase, query, type TestDatabase } from '../../support/database.js';
import { addDataset } from '../../support/datasets.js';
import { postgresUnderTest } from '../../support/postgres-repositories.js';
import { aDataset, anAccount, anApiKey, aProject, aRecord, aReport, aTeam } from '../../support/records.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

const SECRET = { SERVICE_SECRET: 'secret-of-the-tests' };
const AWKWARD = 'tab\t, line\n, return\r, back\\slash, \\., \\N, "quotes\', Ünïcödé \u{1F986}';

/** Returns every row of every table that a backup has, as text. */
async function contentOf(url: string): Promise<Record<string, unknown[]>> {
  const tables = await query<{ name: string }>(
    url,
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
  );
  const content: Record<string, unknown[]> = {};
  for (const { name } of tables.filter((table) => !['migrations', 'instances'].includes(table.name))) {
    content[name] = await query(url, `SELECT t::text AS row FROM ${name} t ORDER BY 1`);
  }
  content.tasks = await query(
    url,
    'SELECT task_identifier, run_at, key, attempts, queue_name FROM graphile_worker.jobs ORDER BY 3',
  );
  return content;
}

describe('a backup of the database', () => {
  const store = postgresUnderTest();
  const folder = new TemporaryFolder();
  const file = join(folder.path, 'one.backup');
  const dropped: TestDatabase[] = [];
  let backupRun: Ran;

  const empty = async () => {
    const database = await freshDatabase({ migrated: false });
    dropped.push(database);
    return database.url;
  };
  let folders = 0;
  const place = (databaseUrl: string, dataDir = join(folder.path, `data-${++folders}`)) => ({ dataDir, databaseUrl });
  const restored = (url: string, from = file) => tenon(place(url), ['restore', from], { env: SECRET });

  beforeAll(async () => {
    const repositories = await store.open();
    const { teams, accounts, credentials, projects } = repositories;
    const team = aTeam({ operator: true });
    await teams.add(team);
    for (const name of ['Ada', AWKWARD]) {
      const account = anAccount(team, { name });
      await accounts.add(account);
      await credentials.add(anApiKey(account, { name: AWKWARD }));
    }
    const project = { ...aProject(team), name: AWKWARD };
    await projects.add(project);
    const records = [aRecord({ input: AWKWARD }), aRecord({ input: { deep: [1, null, true, 'x'.repeat(3_000_000)] } })];
    await addDataset(repositories, aDataset(project, records), records);
    await repositories.instanceReports.save(aReport());
    await query(store.url, "SELECT setval('process_numbers', 41)");
    await query(
      store.url,
      `SELECT graphile_worker.add_job('evaluation', '{"payload":{"id":"job_1"}}'::json, job_key => 'a', run_at => now(), queue_name => 'evaluation tea_1'),
              graphile_worker.add_job('evaluation', NULL, job_key => 'b', run_at => '2040-01-01')`,
    );
    await query(store.url, "UPDATE graphile_worker._private_jobs SET attempts = 7 WHERE key = 'b'");
    await query(store.url, "INSERT INTO rate_limits (key, policy, expires_at) VALUES ('a', 'default', now())");
    backupRun = await tenon(place(store.url), ['backup', file], { env: SECRET });
  });
  afterAll(async () => {
    for (const database of dropped) await database.drop();
    folder.remove();
  });

  it('is one file that only its owner can read', () => {
    expect(backupRun).toMatchObject({ code: 0, err: '' });
    expect(readdirSync(folder.path).filter((name) => name.includes('backup'))).toEqual(['one.backup']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(backupRun.out).toContain('keep SERVICE_SECRET');
    expect(readFileSync(file).includes(SECRET.SERVICE_SECRET)).toBe(false);
  });

  it('restores every row but counts of rate limits, every sequence and waiting task; backup and restore are audited', async () => {
    const url = await empty();
    expect(await restored(url)).toMatchObject({ code: 0 });
    const [then, now] = [await contentOf(store.url), await contentOf(url)];
    expect({ ...now, audit_entries: [] }).toEqual({ ...then, audit_entries: [], rate_limits: [] });
    expect(then.rate_limits).toHaveLength(1);
    expect(now.datasets).toHaveLength(1);
    expect(await query(url, 'SELECT number FROM instances')).toEqual([]); // they do not run on the restored database
    expect(now.tasks).toHaveLength(2);
    expect(await query(url, "SELECT nextval('process_numbers') AS n")).toEqual([{ n: '42' }]);
    const acts = (at: string) => query<{ action: string }>(at, 'SELECT action, actor_kind FROM audit_entries');
    expect(await acts(store.url)).toEqual([{ action: 'database.backed_up', actor_kind: 'command_line' }]);
    expect(await acts(url)).toEqual([{ action: 'database.restored', actor_kind: 'command_line' }]);
    const [{ names }] = (await query(url, 'SELECT array_agg(name ORDER BY id) AS names FROM migrations')) as [
      { names: string[] },
    ];
    expect(names).toEqual(migrationNames);
  });

  it('says that it has no secret, and creates none', async () => {
    const at = place(store.url);
    const { code, err } = await tenon(at, ['backup', join(folder.path, 'unsealed')]);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('has no secret') });
    expect(existsSync(join(at.dataDir, 'secret'))).toBe(false);
  });

  it('can be restored from an earlier version; then the migrations run', async () => {
    const old = await empty();
    const source = await createMigrationSource(old, migrationNames.slice(0, 4)).initialize();
    await source.runMigrations({ transaction: 'each' });
    await source.destroy();
    await query(old, "INSERT INTO teams (id, operator, created_at) VALUES ('tea_old', true, now())");
    const from = join(folder.path, 'old');
    const { code, err } = await tenon(place(old), ['backup', from], { env: SECRET });
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('no audit') });
    const url = await empty();
    expect(await restored(url, from)).toMatchObject({ code: 0 });
    expect(await query(url, 'SELECT id FROM teams')).toEqual([{ id: 'tea_old' }]);
    // Programs of the last release must know the release of each migration.
    const marked = await query<{ name: string }>(url, 'SELECT name FROM migration_releases');
    expect(marked.map(({ name }) => name).sort()).toEqual([...migrationNames].sort());
    expect(await query(url, 'SELECT action FROM audit_entries')).toEqual([{ action: 'database.restored' }]);
  });

  it('is not restored into a database that is not empty', async () => {
    const before = await contentOf(store.url);
    expect(await restored(store.url)).toMatchObject({ code: 1, err: expect.stringContaining('is not empty') });
    expect(await contentOf(store.url)).toEqual(before);
    const url = await empty();
    await query(url, 'CREATE SCHEMA other; CREATE TABLE other.things (id integer)');
    expect(await restored(url)).toMatchObject({ code: 1, err: expect.stringContaining('it has things') });
  });

  it('is not restored while a service is starting', async () => {
    const url = await empty();
    const source = await createMigrationSource(url).initialize();
    const holder = source.createQueryRunner();
    const startLock = [0x74656e6f6en.toString()];
    await holder.query('SELECT pg_advisory_lock($1)', startLock);
    expect(await restored(url)).toMatchObject({ code: 1, err: expect.stringContaining('a service is starting') });
    await holder.query('SELECT pg_advisory_unlock($1)', startLock);
    await holder.release();
    await source.destroy();
    expect(await restored(url)).toMatchObject({ code: 0 });
  });

  let untouched: string | undefined;
  const bytes = () => readFileSync(file);
  const changed = (at: number) => {
    const copy = Buffer.from(bytes());
    copy.writeUInt8(copy.readUInt8(at) ^ 1, at);
    return copy;
  };
  it.each<[string, () => Buffer, string]>([
    ['without its end', () => bytes().subarray(0, -1), 'incomplete or has been changed'],
    ['cut after its first line', () => bytes().subarray(0, 20), 'incomplete or has been changed'],
    ['with one changed bit', () => changed(Math.floor(bytes().length / 2)), 'incomplete or has been changed'],
    ['with more after its end', () => Buffer.concat([bytes(), Buffer.from('x')]), 'incomplete or has been changed'],
    [
      'of a later format',
      () => Buffer.from(bytes().toString('latin1').replace('tenon-backup 1', 'tenon-backup 2'), 'latin1'),
      'has the format 2',
    ],
    ['that is something else', () => Buffer.from('PGDMP'), 'is no backup'],
  ])('is refused %s, before anything is written', async (_, content, message) => {
    const from = join(folder.path, 'bad');
    writeFileSync(from, content());
    untouched ??= await empty();
    const at = place(untouched);
    expect(await tenon(at, ['restore', from])).toMatchObject({ code: 1, err: expect.stringContaining(message) });
    expect(existsSync(at.dataDir)).toBe(false);
    const tables = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    expect(await query(untouched, tables)).toEqual([]);
  });

  const head = { kind: 'backup', tenon: '1', created_at: '2026', secret: false };
  const tables = { kind: 'database', migrations: ['Foundation1763683200000'] };
  const model = { kind: 'model_file', path: 'a/b.onnx', size: 1, sha256: '0'.repeat(64), included: true };
  it.each<[string, unknown[], string]>([
    ['with null for a section', [head, null], 'section 2 is not as a backup has it'],
    ['with a section of no kind', [head, { kind: 'more' }], 'section 2 is not as a backup has it: kind'],
    ['without its first section', [tables], 'section 1 (database) must not be the first'],
    ['without the section of the database', [head], 'does not say what its tables are'],
    [
      'with a table before the database',
      [head, { kind: 'table', name: 'teams', columns: ['id'] }],
      'before the database',
    ],
    ['with a table without columns', [head, tables, { kind: 'table', name: 'teams', columns: null }], 'columns'],
    ['with a sequence that is no number', [head, tables, { kind: 'sequence', name: 'x', value: null }], 'value'],
    ['with a model outside its folder', [head, tables, { ...model, path: '../x' }], 'section 3'],
    ['with a model that is not that of its checksum', [head, tables, model], 'a/b.onnx does not match its checksum'],
  ])('is refused %s though its checksum fits, before anything is written', async (_, headers, message) => {
    const from = join(folder.path, `crafted-${++folders}`);
    const sections = async function* () {
      for (const header of headers) yield { header: header as never };
    };
    await writeBackup(from, sections(), new AbortController().signal, ({ publish }) => publish());
    untouched ??= await empty();
    const at = place(untouched);
    expect(await tenon(at, ['restore', from])).toMatchObject({ code: 1, err: expect.stringContaining(message) });
    expect(existsSync(at.dataDir)).toBe(false);
  });

  it('names the table of records that it cannot restore', async () => {
    const from = join(folder.path, 'wrong-records');
    const rows = async function* () {
      yield Buffer.from('tea_1\t\\N\n');
    };
    const sections = async function* () {
      yield { header: head as never };
      yield { header: tables as never };
      yield { header: { kind: 'table', name: 'teams', columns: ['id', 'operator'] } as never, chunks: rows() };
    };
    await writeBackup(from, sections(), new AbortController().signal, ({ publish }) => publish());
    const refused = { code: 1, err: expect.stringContaining('the backup has records of the table teams that cannot') };
    expect(await restored(await empty(), from)).toMatchObject(refused);
  });

  it('removes what killed backups and restores have left, but nothing of those that run', async () => {
    const ended = spawnSync(process.execPath, ['-e', '']).pid;
    const [here = ''] = ownMark.split('-');
    const elsewhere = '0123456789ab';
    const to = join(folder.path, 'next');
    const left = (mark: string, age: 'new' | 'old') => ({ path: `${to}.${mark}.part`, age });
    const gone = [left(`${here}-${ended}`, 'new'), left(`ba9876543210-${ended}`, 'old'), left(`${ended}`, 'old')];
    const kept = [
      left(`${here}-${process.ppid}`, 'new'),
      left(`${elsewhere}-${ended}`, 'new'),
      left(`${elsewhere}-${process.pid}`, 'new'), // the same id in another container
      { path: `${to}-x.${here}-${ended}.part`, age: 'new' },
    ];
    const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);
    for (const { path, age } of [...gone, ...kept]) {
      writeFileSync(path, 'x');
      if (age === 'old') utimesSync(path, twoDaysAgo, twoDaysAgo);
    }
    expect(await tenon(place(store.url), ['backup', to], { env: SECRET })).toMatchObject({ code: 0 });
    expect([...gone, ...kept].filter(({ path }) => existsSync(path))).toEqual(kept);
    const at = place(await empty());
    const restoring = [`${here}-${ended}`, `${elsewhere}-${process.pid}`].map((mark) => `.restoring-${mark}-abcdef`);
    for (const name of restoring) mkdirSync(join(at.dataDir, name, 'models'), { recursive: true });
    expect(await tenon(at, ['restore', to], { env: SECRET })).toMatchObject({ code: 0 });
    expect(readdirSync(at.dataDir).filter((name) => name.startsWith('.restoring'))).toEqual(restoring.slice(1));
  });

  it('must be a file that exists', async () => {
    const at = place(store.url);
    for (const [where, message] of [
      [join(folder.path, 'nobody'), 'there is no file'],
      [folder.path, 'is no file'],
    ] as const) {
      expect(await tenon(at, ['restore', where])).toMatchObject({ code: 1, err: expect.stringContaining(message) });
    }
  });

  it('leaves nothing behind when it is stopped, and overwrites nothing', async () => {
    const stopping = AbortSignal.abort(new Error('stopped'));
    const to = join(folder.path, 'given-up');
    expect((await tenon(place(store.url), ['backup', to], { stopping })).code).toBe(1);
    expect(readdirSync(folder.path).filter((name) => name.startsWith('given-up'))).toEqual([]);
    const before = bytes();
    expect(await tenon(place(store.url), ['backup', file])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is there already'),
    });
    expect(bytes().equals(before)).toBe(true);
    expect(await tenon(place(store.url), ['backup', join(folder.path, 'nowhere/one')])).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no folder'),
    });
    expect(await tenon(place(await empty()), ['backup', to])).toMatchObject({
      code: 1,
      err: expect.stringContaining('nothing to back up'),
    });
  });

  it('has no time limit for a COPY, even if the URL sets query_timeout', async () => {
    const url = new URL(store.url);
    url.searchParams.set('query_timeout', '100');
    const client = new Client({ connectionString: url.href });
    await client.connect();
    try {
      const text: string[] = [];
      const rows = client.query(withoutTimeLimit(copyTo("COPY (SELECT 'all', pg_sleep(0.5)) TO STDOUT")));
      for await (const chunk of rows) text.push(String(chunk));
      expect(text.join('')).toBe('all\t\n');
    } finally {
      await client.end();
    }
  });
});
