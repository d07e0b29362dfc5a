import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { version } from '../../src/interfaces/version.js';
import { HttpCaller } from '../support/http-caller.js';
import { descendants, untilGone } from '../support/processes.js';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { ask, completions, readyProject, register } from '../support/workspace.js';

// Without a lock file, npm asks the registry for some 350 packages. Beside other work, that took more than five minutes.
jest.setTimeout(900_000);

const run = promisify(execFile);
const work = new TemporaryFolder();
const inWork = (name: string): string => {
  const folder = join(work.path, name);
  mkdirSync(folder, { recursive: true });
  return folder;
};

/** The settings of this project, also those that `npm run` adds. Neither npm nor the tested service must see them. */
const OURS =
  /^(SERVICE_|DATABASE_URL|NODE_ENV|JEST_|ONNXRUNTIME_|npm_(?!config_)|npm_config_(ignore_scripts|onnx|local_prefix))/i;
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OURS.test(name))),
  CI: 'true', // npx installs without a question
};

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const bytesOf = (path: string): number => {
  const file = lstatSync(path);
  return file.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0) : file.size;
};
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1).padStart(7)} MB`;

describe('the package', () => {
  let packed: Packed;
  let archive: string;
  let npmCache: string;
  let installed: string;
  let child: ChildProcess | undefined;

  const npx = (...args: string[]) => run('npx', ['--yes', `--package=${archive}`, 'tenon', ...args], options());
  const options = () => ({ cwd: inWork('empty'), env: { ...env, npm_config_cache: npmCache } });

  beforeAll(async () => {
    const folder = inWork('archive');
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { env, maxBuffer: 2 ** 26 });
    packed = Object.values(JSON.parse(stdout))[0] as Packed;
    archive = join(folder, packed.filename);
    // With a separate cache npx installs this archive and no older one. It links to the downloads of npm's own cache.
    const { stdout: cache } = await run('npm', ['config', 'get', 'cache'], { env });
    npmCache = inWork('cache');
    mkdirSync(join(cache.trim(), '_cacache'), { recursive: true });
    symlinkSync(join(cache.trim(), '_cacache'), join(npmCache, '_cacache'));
  });
  afterEach(() => void child?.kill('SIGTERM')); // a failed test may have left the process
  afterAll(() => work.remove());

  it('contains the program and its documents, and no tests, tools or sources', () => {
    const paths = packed.files.map(({ path }) => path);
    const folders = [...new Set(paths.map((path) => path.split('/')[0]))].sort();
    const files = ['CHANGELOG.md', 'README.md', 'package.json'];
    expect(folders).toEqual([...files, 'bin', 'dist', 'docs', 'models', 'starters'].sort());
    expect(
      paths.filter((path) => path.startsWith('dist/') && !/^dist\/(built|src\/.*\.js|console\/[^/]+)$/.test(path)),
    ).toEqual([]);
    expect(paths).toContain('dist/console/index.html');
    expect(packed.unpackedSize).toBeLessThan(15_000_000);
  });

  it('runs by npx in an empty folder', async () => {
    expect((await npx('--version')).stdout).toBe(`${version}\n`);
    const [name] = readdirSync(join(npmCache, '_npx'));
    installed = join(npmCache, '_npx', name as string, 'node_modules');
    const program = join(installed, '.bin/tenon');
    expect((await run(program, ['--help'], options())).stdout).toContain('\n  start ');
    const { stdout } = await run(program, ['doctor'], options());
    expect(stdout).toContain('ok    database: made by the first start');
    expect(stdout).toContain(`ok    models folders: ${join(installed, 'tenon/models')}`);
  });

  it('has production dependencies only', () => {
    for (const name of ['jest', 'typescript', '@biomejs']) expect(existsSync(join(installed, name))).toBe(false);
    const packages = readdirSync(installed)
      .filter((name) => !name.startsWith('.'))
      .map((name) => ({ name, bytes: bytesOf(join(installed, name)) }))
      .sort((one, other) => other.bytes - one.bytes);
    const total = packages.reduce((sum, { bytes }) => sum + bytes, 0);
    const lines = [
      `${megabytes(packed.size)}  ${basename(archive)}`,
      `${megabytes(packed.unpackedSize)}  unpacked`,
      `${megabytes(total)}  installed, with ${packages.length} folders of packages:`,
      ...packages.slice(0, 10).map(({ name, bytes }) => `${megabytes(bytes)}    ${name}`),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    expect(total).toBeLessThan(700_000_000); // Node.js itself has 190 MB
  });

  /** Starts the service. Returns its address and the process. */
  async function started(program: string, args: readonly string[]) {
    const { cwd, env } = options();
    const running = spawn(program, args, {
      cwd,
      env: { ...env, SERVICE_PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = running;
    let printed = '';
    running.stdout.on('data', (text) => (printed += text));
    running.stderr.on('data', (text) => (printed += text));
    const ready = () => /^ready (\S+)$/m.exec(printed)?.[1];
    const ended = once(running, 'close').then(([code, signal]) => signal ?? code);
    await until('the service is ready', () => {
      if (running.exitCode !== null) throw new Error(printed);
      return ready() !== undefined;
    });
    return { service: new HttpCaller(ready() as string), running, ended };
  }

  it('starts with ./data, chats and predicts with its shipped models, and exits with 0 after SIGTERM', async () => {
    const { service, running, ended } = await started(join(installed, '.bin/tenon'), ['start']);
    const { token } = await register(service, 'Ada');
    const project = await readyProject(service, token);
    const { body } = await service.post(completions(project), token, ask(project, 'What is 7 + 5?'));
    expect(body.choices[0].message.content).toBe('7 + 5 = 12.');
    const deployment = { name: 'shipped', model_path: 'tiny-embed/onnx/model.onnx' };
    expect((await service.post('/v1/deployments', token, deployment)).body).toMatchObject({ status: 'running' });
    for (const path of ['/health/ready', '/auth', '/docs', '/openapi.json', '/v1/project-starters'])
      expect([path, (await service.get(path, token)).status]).toEqual([path, 200]);
    running.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(readdirSync(options().cwd)).toEqual(['data']);
  });

  it('leaves no process behind when npx ends', async () => {
    const { running } = await started('npx', ['--yes', `--package=${archive}`, 'tenon', 'start']);
    const all = descendants(running.pid as number);
    running.kill('SIGTERM');
    await untilGone(all);
  });
});
