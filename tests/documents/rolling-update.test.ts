import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RELEASE } from '../../src/infrastructure/typeorm/releases.js';
import { freshDatabase, query } from '../support/database.js';
import { HttpCaller } from '../support/http-caller.js';
import { ADDITIONS, copyAsRelease } from '../support/other-release.js';
import { hasCaddy, Instances, Load, slowly, startCaddy } from '../support/rolling-update.js';
import { ScriptedEngine } from '../support/scripted-engine.js';
import { temporaryFolder } from '../support/service.js';
import { until } from '../support/until.js';
import { readyProject, register } from '../support/workspace.js';

jest.setTimeout(240_000);

/** The program of Debian's package `caddy`. `.ci/run` installs it if it can. */
if (!hasCaddy()) console.warn('The test of docker/instances.Caddyfile is skipped: there is no caddy.');

const withCaddy = hasCaddy() ? it : it.skip;

/** The processes and servers of the test, the last first. */
const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

withCaddy('no call fails while three instances are replaced by the next release', async () => {
  const [folder, database, engine] = await Promise.all([temporaryFolder(), freshDatabase(), ScriptedEngine.start()]);
  ending.unshift(
    () => engine.close(),
    () => database.drop(),
    () => rm(folder, { recursive: true, force: true }),
  );
  engine.script = slowly;
  const env = {
    SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host,
    SERVICE_TRUST_PROXY: 'loopback',
    SERVICE_DRAIN_DELAY_S: '3',
  };
  const instances = await Instances.start(3, { databaseUrl: database.url, dataDir: folder, env });
  ending.unshift(() => instances.stop());
  const caddy = await startCaddy(folder, instances.ports);
  ending.unshift(() => caddy.stop());
  const service = new HttpCaller(caddy.url);
  const ada = await register(service, 'Ada');
  const project = await readyProject(service, ada.token, { runtime: 'openai', base_url: engine.url, model: 'm' });
  const place = join(folder, 'next');
  mkdirSync(place);
  const migrations = { additions: ADDITIONS };
  const next = copyAsRelease(place, { number: RELEASE.number + 1, version: '0.0.0-next', migrations });

  const load = new Load(caddy.url, project, ada);
  ending.unshift(() => load.stop());
  load.start(12);
  await until('streams are answered', () => (load.counts.streams ?? 0) > 0);
  await instances.replace(next);
  await load.stop();
  expect(load.failures).toEqual([]);
  const jobs = await query(database.url, `SELECT count(*)::integer AS count FROM jobs WHERE status = 'succeeded'`);
  expect(jobs).toEqual([{ count: load.answered }]);
  expect(await query(database.url, 'SELECT later_count FROM teams')).toEqual([{ later_count: 7 }]);
});
