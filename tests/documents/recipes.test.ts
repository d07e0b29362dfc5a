import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

jest.setTimeout(240_000);

const run = promisify(execFile);
const root = join(__dirname, '../..');
/** The path is always the same, so that Jest finds the files that it has transformed before. */
const tree = join(root, 'dist/recipes');

interface Snippet {
  readonly recipe: string;
  readonly path: string;
  /** The whole file, or the lines of a change with their marks. */
  readonly text: string;
  readonly isChange: boolean;
}

function snippetsOf(page: string): Snippet[] {
  return page.split(/^## Recipe: /m).flatMap((section) => {
    const recipe = section.split('\n', 1)[0] as string;
    const blocks = section.matchAll(/^```(?:ts|diff)\n(?:\/\/|@@) (src|tests)(\/\S+)\n(.*?)^```$/gms);
    return [...blocks].map(([block, folder, path, text = '']) => {
      return { recipe, path: `${folder}${path}`, text, isChange: block.startsWith('```diff') };
    });
  });
}

/** Removes the lines with `-`. Adds the lines with `+` below the line before them, or below the imports. */
function changed({ path, text }: Snippet, file: string): string {
  const lines = file.split('\n');
  let at = lines.findLastIndex((line) => /^(import .*|\} from .*);$/.test(line));
  let from = 0;
  for (const [block] of text.matchAll(/^[ -].*\n|(^\+.*\n)+/gm)) {
    if (block.startsWith('+')) {
      const added = block.replace(/^\+/gm, '').slice(0, -1).split('\n');
      lines.splice(at + 1, 0, ...added);
      at += added.length;
      from = at + 1;
      continue;
    }
    const [start = '', ...rest] = block.slice(1).trim().split('…');
    const isAnchor = (line: string) => (rest.length > 0 ? line.trim().startsWith(start) : line.trim() === start);
    at = lines.findIndex((line, index) => index >= from && isAnchor(line));
    if (at < 0) throw new Error(`${path} has no line "${block.trim()}" below line ${from}`);
    if (block.startsWith('-')) lines.splice(at--, 1);
    from = at + 1;
  }
  return lines.join('\n');
}

/** Runs a program in the scratch tree. Throws an error with its output if it fails. */
async function inTree(program: string, ...args: string[]): Promise<string> {
  const { JEST_WORKER_ID: _, ...env } = process.env;
  const { stdout } = await run(program, args, { cwd: tree, env, maxBuffer: 2 ** 26 }).catch(({ stdout, stderr }) => {
    throw new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`);
  });
  return stdout;
}

const LINT = 'lint.json';
const bin = (name: string) => join(root, 'node_modules/.bin', name);

describe('the recipes of CONTRIBUTING.md', () => {
  const all = snippetsOf(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'));
  // If somebody has followed a recipe exactly, its files are already part of the sources.
  const followed = all.filter(({ isChange, path }) => !isChange && existsSync(join(root, path)));
  const snippets = all.filter(({ recipe }) => !followed.some((one) => one.recipe === recipe));
  const written = snippets.filter(({ isChange }) => !isChange).map(({ path }) => path);
  const touched = [...new Set(snippets.map(({ path }) => path))];
  const tests = touched.filter((path) => path.startsWith('tests/'));

  beforeAll(() => {
    rmSync(tree, { recursive: true, force: true });
    mkdirSync(tree);
    for (const name of ['src', 'tests', 'tools', 'package.json', 'jest.config.cjs', '.dependency-cruiser.cjs'])
      cpSync(join(root, name), join(tree, name), { recursive: true });
    cpSync(join(root, 'biome.json'), join(tree, LINT)); // biome refuses a second biome.json below the first
    const compilerOptions = { rootDir: '.', outDir: 'dist' };
    const project = {
      extends: '../../tsconfig.json',
      compilerOptions,
      include: ['src', 'tools/openapi.ts', ...written, ...tests],
      exclude: ['src/interfaces/web/console'],
    };
    writeFileSync(join(tree, 'tsconfig.json'), JSON.stringify(project));
    for (const name of ['node_modules', 'models', 'public', 'starters'])
      symlinkSync(join(root, name), join(tree, name));
    cpSync(join(root, 'dist/console'), join(tree, 'dist/console'), { recursive: true });
    for (const snippet of snippets) {
      const path = join(tree, snippet.path);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, snippet.isChange ? changed(snippet, readFileSync(path, 'utf8')) : snippet.text);
    }
  });
  afterAll(() => rmSync(tree, { recursive: true, force: true }));

  it('are formatted, have no lint problems, and compile', async () => {
    // Sorts the imports of changed files. New files are complete and must stay unchanged.
    await inTree(bin('biome'), 'check', '--write', `--config-path=${LINT}`, ...touched);
    const before = snippets.filter(({ isChange }) => !isChange).map(({ path, text }) => [path, text]);
    expect(before.map(([path = '']) => [path, readFileSync(join(tree, path), 'utf8')])).toEqual(before);
    await inTree(bin('tsc'), '-p', '.');
  });

  it('keep the layers, and pass their tests', async () => {
    await inTree('node', 'dist/tools/openapi.js');
    expect(await inTree('node', 'tools/check-architecture.cjs', '.')).toContain(' 0 violations');
    const columns = 'tests/infrastructure/typeorm/columns.test.ts';
    // One process compiles the sources once.
    await inTree(bin('jest'), '--silent', '--runInBand', ...tests.filter((path) => path.endsWith('.test.ts')), columns);
    const added = 'lists the projects with a tag';
    const suites = await inTree(bin('jest'), '--json', 'tests/contracts/stores.test.ts', '-t', added);
    expect(JSON.parse(suites)).toMatchObject({ numPassedTests: 1 });
  });
});
