import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { StorageUnavailable } from '../../../src/domain/shared/errors.js';
import { createDataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { migrate } from '../../../src/infrastructure/typeorm/migrate.js';
import { TypeOrmStorageProbe } from '../../../src/infrastructure/typeorm/operations/operations.js';
import { LAST_RELEASE, RELEASE } from '../../../src/infrastructure/typeorm/releases.js';
import { atOnce } from '../../support/barrier.js';
import { CutOffProxy } from '../../support/cut-off-proxy.js';
import { freshDatabase, query } from '../../support/database.js';
import { databaseBefore } from '../../support/database-before.js';
import { until, within } from '../../support/until.js';

const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

const postgres = (trouble: 'cut' | 'silence') => async () => {
  const database = await freshDatabase();
  const proxy = await CutOffProxy.before(database.url);
  const source = await createDataSource(proxy.url).initialize();
  ending.push(
    () => source.destroy(),
    () => proxy.close(),
    () => database.drop(),
  );
  return { probe: new TypeOrmStorageProbe(source), begin: () => proxy[trouble](), end: () => proxy.reopen() };
};

describe.each([
  ['PostgreSQL, when its connections break,', postgres('cut')],
  ['PostgreSQL, when it stops answering,', postgres('silence')],
])('StorageProbe of %s', (_, open) => {
  it('reports within seconds that the database does not answer, and that it answers again', async () => {
    const { probe, begin, end } = await open();
    // More checks at once than there can be connections. No connection may get lost.
    const checks = () => atOnce(20, () => probe.check().catch((error: unknown) => error));
    expect(new Set(await checks())).toEqual(new Set([undefined]));
    begin();
    let outcomes: unknown[] = [];
    const checked = async () => {
      outcomes = await checks();
    };
    expect(await within(8_000, checked)).toBe(true);
    expect(outcomes).toHaveLength(20);
    for (const outcome of outcomes) expect(outcome).toBeInstanceOf(StorageUnavailable);
    end();
    await expect(probe.check()).resolves.toBeUndefined();
  });
});

describe('StorageProbe of PostgreSQL', () => {
  it('throws before the migrations are done', async () => {
    const database = await freshDatabase({ migrated: false });
    const source = await createDataSource(database.url).initialize();
    ending.push(
      () => source.destroy(),
      () => database.drop(),
    );
    const storage = new TypeOrmStorageProbe(source);
    await expect(storage.check()).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('not up to date'),
    });
    await migrate(database.url);
    await expect(storage.check()).resolves.toBeUndefined();
  });

  describe('of a database with a migration that this version does not know', () => {
    const LATER = 'Later9000000000000';
    /** Makes a database whose last migration is of the release, or has no mark. Returns what must refuse it or not. */
    async function laterDatabase(release: number | null) {
      const database = await freshDatabase();
      const source = await createDataSource(database.url).initialize();
      ending.push(
        () => source.destroy(),
        () => database.drop(),
      );
      await query(database.url, 'INSERT INTO migrations (timestamp, name) VALUES (9e12, $1)', [LATER]);
      if (release !== null)
        await query(database.url, 'INSERT INTO migration_releases VALUES ($1, $2, $3)', [LATER, release, '9.8.7']);
      return { check: () => new TypeOrmStorageProbe(source).check(), start: () => migrate(database.url), database };
    }

    it.each([RELEASE.number, RELEASE.number + 1])(
      'is satisfied, and so is a start, if it is of release %d',
      async (release) => {
        const { check, start } = await laterDatabase(release);
        await expect(check()).resolves.toBeUndefined();
        await expect(start()).resolves.toEqual([]);
      },
    );

    it.each([
      [
        RELEASE.number + 2,
        [`of release ${RELEASE.number + 2} (9.8.7)`, `program is release ${RELEASE.number} (0.1.0)`],
      ],
      [null, [LATER]],
    ])('throws, and so does a start, if it is of release %s', async (release, words) => {
      const { check, start, database } = await laterDatabase(release);
      // A start that went on would run this migration again.
      await query(database.url, 'DELETE FROM migrations WHERE name = $1', [LAST_RELEASE.lastMigration]);
      for (const attempt of [check, start])
        await expect(attempt()).rejects.toMatchObject({
          code: 'instance_outdated',
          message: expect.stringMatching(words.map((one) => one.replace(/[().]/g, '\\$&')).join('.*')),
        });
      expect(await query(database.url, 'SELECT FROM migrations WHERE name = $1', [LAST_RELEASE.lastMigration])).toEqual(
        [],
      );
    });
  });
});

describe('a migration', () => {
  const STEP = 'OwnCalls1766448000000'; // changes tables

  async function earlierDatabase() {
    const database = await databaseBefore(STEP);
    ending.push(() => database.drop());
    return database.url;
  }

  it('is marked with the release of the program that runs it, also without any mark in the database before', async () => {
    const url = await earlierDatabase();
    const done = await migrate(url);
    const marks = await query<{ name: string }>(url, 'SELECT * FROM migration_releases');
    expect(marks.map(({ name }) => name).sort()).toEqual([...done].sort());
    expect(new Set(marks.map(({ name, ...mark }) => JSON.stringify(mark)))).toEqual(
      new Set([JSON.stringify({ release: RELEASE.number, version: RELEASE.version })]),
    );
    expect(RELEASE.number).toBeGreaterThan(LAST_RELEASE.number);
    expect(JSON.parse(readFileSync('package.json', 'utf8')).version).toBe(RELEASE.version);
  });

  it('lets others use a table that it waits for, as during a backup', async () => {
    const url = await earlierDatabase();
    const reader = new Client(url);
    await reader.connect();
    await reader.query('BEGIN; LOCK TABLE budget_holds IN ACCESS SHARE MODE');
    const migrating = migrate(url);
    const waiting = `SELECT FROM pg_locks WHERE relation = 'budget_holds'::regclass AND NOT granted`;
    await until('the migration waits', async () => (await query(url, waiting)).length > 0, 5);
    // Without a limit for the wait, this would wait until the reader ends.
    const reading = query(url, 'SELECT FROM budget_holds');
    expect(await within(3_000, () => reading)).toBe(true);
    await reader.query('COMMIT');
    await reader.end();
    expect(await migrating).toContain(STEP);
  });
});
