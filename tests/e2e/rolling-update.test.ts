import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RELEASE } from '../../src/infrastructure/typeorm/releases.js';
import { freshDatabase, query, type TestDatabase } from '../support/database.js';
import { ADDITIONS, copyAsRelease } from '../support/other-release.js';
import { Alternating, Flows, flowSettings, putModelFile } from '../support/release-flows.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { launch, Service, temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';

/** Each test continues from the state of the test before. */
describe('a program on the tables of newer releases', () => {
  let folder: string;
  let dataDir: string;
  let database: TestDatabase;
  let engine: ScriptedEngine;
  let old: Service;
  let next: Service;
  let flows: Flows;

  const start = (main?: string) =>
    Service.start({
      alone: 'it is one of several',
      databaseUrl: database.url,
      dataDir,
      env: flowSettings(engine),
      ...(main && { main }),
    });
  const ready = async (one: Service) => {
    const { status, body } = await one.get('/health/ready');
    return [status, body.code];
  };
  const release = async (later: number, migrations: Readonly<Record<string, string>>) => {
    const place = join(folder, `release-${later}`);
    await mkdir(place);
    return copyAsRelease(place, { number: RELEASE.number + later, version: `0.${later}.9`, migrations });
  };

  beforeAll(async () => {
    [folder, dataDir, database, engine] = await Promise.all([
      temporaryFolder(),
      temporaryFolder(),
      freshDatabase(),
      ScriptedEngine.start(),
    ]);
    await putModelFile(dataDir);
    old = await start();
    flows = await Flows.prepare(old, database.url, engine);
    await flows.run(old); // so that its connections have prepared statements
  });
  afterAll(async () => {
    await Promise.all([old?.stop(), next?.stop()]);
    await engine.close();
    await database.drop();
    for (const one of [folder, dataDir]) await rm(one, { recursive: true, force: true });
  });

  it('stays ready while the next release migrates and serves, and both pass the flows together', async () => {
    next = await start(await release(1, { additions: ADDITIONS }));
    const [{ count }] = (await query(database.url, 'SELECT count(later) FROM projects')) as [{ count: string }];
    expect(count).toBe('0'); // the column is there
    for (const one of [old, next]) expect(await ready(one)).toEqual([200, undefined]);
    await flows.run(new Alternating([old, next]));
    await flows.run(new Alternating([next, old]));
  });

  it('serves alone and runs the tasks of the work queue, also after a crash and a new start', async () => {
    await next.stop();
    await flows.run(old);
    await old.kill();
    old = await start();
    expect(await ready(old)).toEqual([200, undefined]);
    await flows.run(old);
    expect(old.errors.split('\n').filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });

  it('two releases newer is not ready, and does not start any more: one line says so, and nothing changes', async () => {
    next = await start(await release(2, { additions: ADDITIONS, removal: 'ALTER TABLE projects DROP COLUMN spec' }));
    const code = 'instance_outdated';
    await until('the old instance is not ready', async () => (await ready(old)).join() === `503,${code}`);
    expect((await old.get('/v1/projects', await login(next))).body).toMatchObject({ code });
    await Promise.all([old.stop(), next.stop()]);
    const before = await content(database.url);
    const refused = launch({ dataDir, databaseUrl: database.url });
    expect(await refused.ended).toBe(1);
    expect(refused.output()).toBe('');
    const lines = refused.errors().trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringContaining(
        `of release ${RELEASE.number + 2} (0.2.9). This program is release ${RELEASE.number} (${RELEASE.version}), and ` +
          `works with the tables of release ${RELEASE.number + 1} at most. Start the newer version`,
      ),
    ]);
    expect(await content(database.url)).toEqual(before);
  });

  const login = async (one: Service): Promise<string> => {
    const credentials = { email: 'ada@example.com', password: 'correct horse battery' };
    return (await one.post('/v1/auth/login', undefined, credentials)).body.token;
  };
});

/** Returns a digest of each table, and the definitions of all columns, indexes and functions. */
async function content(url: string): Promise<unknown> {
  const tables = await query<{ name: string }>(
    url,
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r'
        AND relnamespace IN ('public'::regnamespace, 'graphile_worker'::regnamespace)`,
  );
  const digests = tables.map(({ name }) =>
    query(
      url,
      `SELECT '${name}' AS name, md5(string_agg(one::text, E'\\n' ORDER BY one::text)) AS digest FROM ${name} one`,
    ),
  );
  const shape = `
    SELECT attrelid::regclass || ' ' || attname || ' ' || atttypid::regtype || attnotnull AS part FROM pg_attribute
     WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace) UNION ALL
    SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f' ORDER BY 1`;
  return [await Promise.all(digests), await query(url, shape)];
}
