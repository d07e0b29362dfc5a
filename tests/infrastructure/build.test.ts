import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TemporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const root = join(__dirname, '../..');
/** Loads no types of a browser, which take most of the time of a small build. */
const libraries = { lib: ['es5'], skipLibCheck: true, types: [] };
const options = { target: 'es2023', module: 'node20', rootDir: '.', outDir: 'dist', ...libraries };
const page = 'src/interfaces/web/console';
const sources: Readonly<Record<string, string>> = {
  'package.json': '{}',
  'package-lock.json': '{}',
  'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['src'], exclude: [page] }),
  'src/main.ts': 'export const answer: number = 1;',
  [`${page}/tsconfig.json`]: JSON.stringify({ extends: '../../../../tsconfig.json', include: ['.'], exclude: [] }),
  [`${page}/main.tsx`]: 'export const page: number = 1;',
  [`${page}/start.ts`]: 'export const start: number = 1;',
  [`${page}/styles/console.css`]: 'a { color: red }',
  'src/interfaces/web/reference/reference.js': 'document.title = "API";',
  'src/interfaces/web/reference/docs.html': '<title>API</title>',
  [`${page}/index.html`]: '<script type="module" src="pages/console.js"></script>',
};
const results = ['src/main.js', 'console/index.html', 'built'];

describe('tools/build.cjs', () => {
  let clone: TemporaryFolder;
  const at = (name: string) => join(clone.path, name);
  const args = (...more: string[]) => [at('tools/build.cjs'), ...more];
  const buildIfNeeded = () => expect(spawnSync(process.execPath, args('--if-needed')).status).toBe(0);
  const missing = () => results.filter((name) => !existsSync(at(`dist/${name}`)));

  beforeEach(() => {
    clone = new TemporaryFolder();
    for (const [name, text] of Object.entries(sources)) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), text);
    }
    cpSync(join(root, 'tools/build.cjs'), at('tools/build.cjs'));
    symlinkSync(join(root, 'node_modules'), at('node_modules'));
  });
  afterEach(() => clone.remove());

  /** Starts a build and kills it, with its compiler, when the file appears in `dist`. */
  async function killWhenWritten(name: string) {
    const build: ChildProcess = spawn(process.execPath, args(), { detached: true, stdio: 'ignore' });
    const ended = once(build, 'exit');
    await until(`${name} is written`, () => existsSync(at(`dist/${name}`)));
    try {
      process.kill(-(build.pid as number), 'SIGKILL');
    } catch (error) {
      expect(error).toMatchObject({ code: 'ESRCH' }); // the build was faster
    }
    await ended;
  }

  // The first file of the compiler, the folder of the bundler, and the last file.
  const steps = ['src/main.js', 'console', 'console/index.html'];
  it.each(steps)('builds all again after a build was killed when %s was written', async (name) => {
    await killWhenWritten(name);
    buildIfNeeded();
    expect(missing()).toEqual([]);
  });

  it('builds all again after a second build was killed', async () => {
    buildIfNeeded();
    writeFileSync(at('src/main.ts'), 'export const answer: number = 2;');
    const build = spawn(process.execPath, args(), { detached: true, stdio: 'ignore' });
    const ended = once(build, 'exit');
    await until('the build has begun', () => !existsSync(at('dist/built')));
    process.kill(-(build.pid as number), 'SIGKILL');
    await ended;
    expect(missing()).toEqual(['built']);
    buildIfNeeded();
    expect(missing()).toEqual([]);
    expect(readFileSync(at('dist/src/main.js'), 'utf8')).toContain('answer = 2');
  });

  it('builds only if a source has changed, a folder of sources, or package.json', () => {
    buildIfNeeded();
    const built = readFileSync(at('dist/src/main.js'), 'utf8');
    writeFileSync(at('dist/src/main.js'), 'kept');
    buildIfNeeded();
    expect(readFileSync(at('dist/src/main.js'), 'utf8')).toBe('kept');
    const now = Date.now() / 1000;
    for (const name of ['src/main.ts', 'src', 'package.json']) {
      writeFileSync(at('dist/src/main.js'), 'kept');
      utimesSync(at(name), now + 60, now + 60);
      buildIfNeeded();
      expect({ name, text: readFileSync(at('dist/src/main.js'), 'utf8') }).toEqual({ name, text: built });
      utimesSync(at(name), now - 60, now - 60);
    }
  });

  it('leaves no stamp of a complete build if the types are wrong', () => {
    buildIfNeeded();
    writeFileSync(at(`${page}/main.tsx`), "export const page: number = 'one';");
    expect(spawnSync(process.execPath, args()).status).toBe(1);
    expect(missing()).toEqual(['built']);
  });
});
