import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate } from '../../src/infrastructure/typeorm/migrate.js';
import { LAST_RELEASE } from '../../src/infrastructure/typeorm/releases.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { Alternating, Flows, flowSettings, putModelFile } from '../support/release-flows.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { Service, temporaryFolder } from '../support/service.js';

jest.setTimeout(240_000);

const root = join(__dirname, '../..');
const { commit, number } = LAST_RELEASE;

/** A copy of the sources without the history, or with a short one, cannot build the last release. */
const isKnown = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).status === 0;
if (!isKnown) console.warn(`The test of release ${number} is skipped: the history has no ${commit}.`);

/** Builds the program of the last release with the packages of this one. Returns the file to run. */
function lastRelease(folder: string): string {
  const place = join(folder, 'program');
  mkdirSync(place);
  const archive = execFileSync('git', ['archive', '--format=tar', commit], { cwd: root, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', place], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  execFileSync(process.execPath, ['tools/build.cjs', '--no-check'], { cwd: place });
  return join(place, 'dist/src/main.js');
}

(isKnown ? describe : describe.skip)('the last release', () => {
  let folder: string;
  let database: TestDatabase;
  let engine: ScriptedEngine;
  let old: Service;
  let next: Service | undefined;
  beforeAll(async () => {
    [folder, engine, database] = [
      await temporaryFolder(),
      await ScriptedEngine.start(),
      await freshDatabase({ migrated: false }),
    ];
    await putModelFile(folder);
  });
  afterAll(async () => {
    await Promise.all([old?.stop(), next?.stop()]);
    await engine.close();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('passes the flows on the tables of this release, alone and beside this release', async () => {
    const options = {
      alone: 'it is one of several',
      databaseUrl: database.url,
      dataDir: folder,
      env: flowSettings(engine),
    };
    old = await Service.start({ ...options, main: lastRelease(folder) });
    old.isDocumented = false;
    const flows = await Flows.prepare(old, database.url, engine);
    await flows.run(old);
    await migrate(database.url);
    await flows.run(old);
    // It cannot read the marks of releases, so it is not ready on newer tables, although it serves.
    expect(await old.call('GET', '/health/ready')).toMatchObject({
      status: 503,
      body: { code: 'instance_outdated' },
    });
    next = await Service.start(options);
    await flows.run(new Alternating([old, next]));
  });
});
