import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { HttpCaller } from '../support/http-caller.js';
import { masterKey } from '../support/monitoring.js';
import { descendants, untilGone } from '../support/processes.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const tenon = join(__dirname, '../../bin/tenon.cjs');
const { packagedNode } = require('../../bin/packaged-node.cjs');
const packaged: string | null = packagedNode();

/** Without optional packages, the command line runs on the present Node.js, as all other tests of it show. */
(packaged === null ? describe.skip : describe)('bin/tenon.cjs on another Node.js than the packaged one', () => {
  const folder = new TemporaryFolder();
  const other = join(folder.path, 'node');
  let database: TestDatabase;
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_COMPILE_CACHE: process.env.TENON_TEST_COMPILED,
    SERVICE_DATA_DIR: folder.path,
    SERVICE_PORT: '0',
    SERVICE_MASTER_KEY: masterKey,
  };
  let running: ChildProcess | undefined;
  beforeAll(async () => {
    copyFileSync(process.execPath, other);
    database = await freshDatabase();
    env.DATABASE_URL = database.url;
  });
  afterEach(() => void running?.kill('SIGKILL'));
  afterAll(async () => {
    await database.drop();
    folder.remove();
  });

  async function start(): Promise<{ service: HttpCaller; launcher: ChildProcess }> {
    const launcher = spawn(other, [tenon, 'start'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    running = launcher;
    let printed = '';
    launcher.stdout.on('data', (text) => (printed += text));
    await until('the service is ready', () => printed.includes('ready'));
    return { service: new HttpCaller(/^ready (\S+)$/m.exec(printed)?.[1] as string), launcher };
  }

  it('runs the command on the packaged Node.js, with its output and its exit code', () => {
    const ill = { ...env, SERVICE_SMTP_URL: 'smtp://127.0.0.1:1' };
    const doctor = spawnSync(other, [tenon, 'doctor'], { env: ill, encoding: 'utf8' });
    expect(doctor.stdout).toContain(`(${realpathSync(packaged as string)})`);
    expect(doctor.stderr).toContain('1 of 8');
    expect(doctor.status).toBe(1);
  });

  it('says in the status which Node.js runs, passes on SIGTERM, and exits with the code of the service', async () => {
    const { service, launcher } = await start();
    const { stdout } = spawnSync(packaged as string, ['--version'], { encoding: 'utf8' });
    expect((await service.get('/v1/status', masterKey)).body.node).toBe(stdout.trim());
    launcher.kill('SIGTERM');
    expect(await once(launcher, 'exit')).toEqual([0, null]);
  });

  it('leaves no process behind when it is killed', async () => {
    const { launcher } = await start();
    const all = descendants(launcher.pid as number);
    launcher.kill('SIGKILL');
    await untilGone(all);
  });
});
