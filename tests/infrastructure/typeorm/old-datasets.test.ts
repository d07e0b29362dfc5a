import type { DatasetRecord } from '../../../src/domain/workspace/dataset-record.js';
import { createDataSource, type DataSource } from '../../../src/infrastructure/typeorm/data-source.js';
import { migrate } from '../../../src/infrastructure/typeorm/migrate.js';
import { TypeOrmUnitOfWork } from '../../../src/infrastructure/typeorm/typeorm-unit-of-work.js';
import { query, type TestDatabase } from '../../support/database.js';
import { databaseBefore } from '../../support/database-before.js';
import { canonicalText, recordsOf } from '../../support/datasets.js';
import {
  addOldDataset,
  addOldProject,
  contentsOf,
  digestOf,
  type History,
  RECORDS_MIGRATION,
} from '../../support/old-datasets.js';
import { postgresRepositories } from '../../support/postgres-repositories.js';
import type { Repositories } from '../../support/repositories.js';

const record = (n: number, over: Partial<DatasetRecord> = {}): DatasetRecord => ({
  id: `r${n}`,
  group: n % 3 ? `g${n % 3}` : null,
  input: { z: n, a: ['Grüße 🦆', null, 0.1] },
  expected: n % 2 ? `out ${n}` : null,
  fields: JSON.parse('{"b":1,"a":2,"__proto__":{"c":3}}'),
  ...over,
});
const many = (count: number) => Array.from({ length: count }, (_, n) => record(n));

const HISTORIES: Readonly<Record<string, History>> = {
  dst_empty: [[], null, []],
  dst_small: [many(3), null, [...many(3).slice(0, 2), record(2, { expected: 'other' })], null],
  dst_large: [many(2_500), [...many(2_500).slice(1), record(9_999)]],
  dst_twice: [
    [record(1), record(1), record(2)],
    [record(1), record(2)],
  ],
};
for (let n = 0; n < 20; n++) (HISTORIES as Record<string, unknown>)[`dst_${n}`] = [many(n), many(n + 1)];

async function fill(url: string): Promise<void> {
  const run = (sql: string, values?: unknown[]) => query(url, sql, values);
  await addOldProject(run, { team: 'tea_1', project: 'prj_1' });
  for (const [id, history] of Object.entries(HISTORIES)) await addOldDataset(run, { id, project: 'prj_1', history });
}

describe('datasets of an earlier version', () => {
  let database: TestDatabase;
  let source: DataSource;
  let store: Repositories;
  beforeEach(async () => {
    database = await databaseBefore(RECORDS_MIGRATION);
    await fill(database.url);
    await migrate(database.url);
    await connect();
  });
  const connect = async () => {
    source = await createDataSource(database.url).initialize();
    store = postgresRepositories(new TypeOrmUnitOfWork(source));
  };
  afterEach(async () => {
    await source.destroy();
    await database.drop();
  });

  /** Compares every version with what was stored. */
  async function expectEqual(): Promise<void> {
    for (const [id, history] of Object.entries(HISTORIES)) {
      for (const [index, content] of contentsOf(history).entries()) {
        const found = await recordsOf(store, id, index + 1);
        expect([id, index + 1, JSON.stringify(found)]).toEqual([id, index + 1, JSON.stringify(content)]);
        const version = await store.datasets.version(id, index + 1);
        expect(version).toMatchObject({ recordCount: content.length, contentSha256: digestOf(content) });
      }
    }
  }
  const moveAll = async () => {
    for (let last = ''; ; ) {
      const moved = await store.records.moveOne(last);
      if (!moved) return;
      last = moved.datasetId;
    }
  };
  const rows = async (statement: string) => (await query<{ n: number }>(database.url, statement))[0]?.n;
  const tidy = async () => {
    while (await store.records.tidy());
  };
  const unused = () =>
    rows(`SELECT count(*)::integer AS n FROM dataset_records r WHERE NOT EXISTS (
      SELECT FROM dataset_versions v JOIN dataset_chunks c ON c.dataset_id = v.dataset_id AND c.number = ANY(v.chunks)
       WHERE v.dataset_id = r.dataset_id AND r.number = ANY(c.records))`);

  it('are read and changed before they are moved', async () => {
    await expectEqual();
    expect(await rows('SELECT count(*)::integer AS n FROM dataset_old_contents')).toBe(0);
  });

  it('keep their records and digests when they are moved, and share the records of their versions', async () => {
    await moveAll();
    await expectEqual();
    expect(await store.records.moveOne('')).toBeNull();
    expect(await rows("SELECT count(*)::integer AS n FROM dataset_records WHERE dataset_id = 'dst_large'")).toBe(2_501);
    expect(await unused()).toBe(0);
    const stored = await rows("SELECT stored_bytes::integer AS n FROM datasets WHERE id = 'dst_large'");
    const [first] = HISTORIES.dst_large as [DatasetRecord[]];
    const bytes = Buffer.byteLength(canonicalText(first));
    expect(stored).toBeGreaterThan(bytes);
    expect(stored).toBeLessThan(bytes + 1_000);
  });

  it('are moved completely even if the process dies again and again', async () => {
    for (let deaths = 0; deaths < 10; deaths++) {
      const moving = moveAll().catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, 15 * (deaths + 1)));
      await query(
        database.url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'tenon'`,
      );
      await moving;
      await source.destroy();
      await connect();
    }
    await moveAll();
    await expectEqual();
    await query(database.url, 'UPDATE dataset_leftovers SET due_at = now()');
    await tidy();
    expect(await unused()).toBe(0);
    expect(await rows('SELECT count(*)::integer AS n FROM dataset_leftovers')).toBe(0);
  });

  it('lose the oldest versions and their records as new ones do, moved or not', async () => {
    await store.datasets.prune('dst_small', 3);
    await store.datasets.prune('dst_large', 2);
    expect(await store.datasets.version('dst_small', 2)).toBeNull();
    await moveAll();
    await tidy();
    expect(await recordsOf(store, 'dst_small', 4)).toEqual((HISTORIES.dst_small as DatasetRecord[][])[2]);
    expect(await recordsOf(store, 'dst_large', 2)).toEqual((HISTORIES.dst_large as DatasetRecord[][])[1]);
    expect(await recordsOf(store, 'dst_large', 1)).toBeNull();
    expect(await unused()).toBe(0);
  });

  it('keep their records when an instance prunes the version whose records a move is about to share', async () => {
    await store.records.entries('dst_large', 1, { offset: 0, count: 1 });
    const slow = new TypeOrmUnitOfWork(source);
    const { query: ask } = slow;
    let pruned = false;
    slow.query = async <Row>(statement: string, values?: unknown[]) => {
      if (statement.includes('nextval') && !pruned) {
        pruned = true;
        await store.datasets.prune('dst_large', 2);
        await tidy();
      }
      return ask.call(slow, statement, values) as Promise<Row[]>;
    };
    expect(await recordsOf(postgresRepositories(slow), 'dst_large', 2)).toEqual(HISTORIES.dst_large?.[1]);
    expect(pruned).toBe(true);
    await tidy();
    expect(await recordsOf(store, 'dst_large', 2)).toEqual(HISTORIES.dst_large?.[1]);
  });

  it('fail on an instance of the earlier version, which cannot store them in two forms', async () => {
    for (const statement of [
      "INSERT INTO dataset_contents (dataset_id, version, records) VALUES ('dst_small', 5, '[]')",
      "SELECT content_version FROM dataset_versions WHERE dataset_id = 'dst_small'",
    ])
      await expect(query(database.url, statement)).rejects.toMatchObject({ code: expect.stringMatching(/^42/) });
  });
});
