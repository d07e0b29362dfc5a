/**
 * Builds the service and the console into `dist`.
 *
 *   node tools/build.cjs [--if-needed] [--no-check]
 *
 * `--if-needed` builds only if a source has changed since the last complete build. `--no-check` does not check types.
 *
 * The file `dist/built` is deleted at the beginning and written at the end, so an interrupted build never counts. It has
 * the time of the beginning, so a source that changes during a build leads to another one.
 */
const { spawnSync } = require('node:child_process');
const { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const stamp = path.join(root, 'dist/built');
const consoleFolder = path.join(root, 'src/interfaces/web/console');

const changedAt = (name) => statSync(path.join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Returns the folder and all that is in it. The time of a folder changes when a file in it is deleted. */
const inFolder = (name) => [
  name,
  ...readdirSync(path.join(root, name), { recursive: true }).map((file) => path.join(name, file)),
];

function isBuilt() {
  const sources = [...inFolder('src'), ...inFolder('tools'), 'package.json', 'package-lock.json', 'tsconfig.json'];
  const builtAt = changedAt('dist/built');
  return sources.every((name) => changedAt(name) <= builtAt);
}

/**
 * Tells whether the programs of the compiler and the bundler for this platform are installed. They are optional packages.
 * Without them (`npm ci --omit=optional`) slower ones in JavaScript and WebAssembly serve.
 */
function hasPrograms() {
  const platform = `${process.platform}-${process.arch}`;
  try {
    for (const name of [`@typescript/typescript-${platform}`, `@esbuild/${platform}`])
      require.resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
}

/** Compiles TypeScript. Ends this process if that fails. */
function compile(...options) {
  const tsc = path.join(
    path.dirname(require.resolve(`${isFast ? 'typescript' : 'typescript-6'}/package.json`)),
    'bin/tsc',
  );
  const { status } = spawnSync(process.execPath, [tsc, ...options], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

/** Bundles the console, which the service sends at `/`. */
function bundleConsole() {
  const { buildSync } = require(isFast ? 'esbuild' : 'esbuild-wasm');
  const built = path.join(root, 'dist/console');
  mkdirSync(built, { recursive: true });
  buildSync({
    // The other pages use only the design tokens.
    entryPoints: {
      console: path.join(consoleFolder, 'main.tsx'),
      tokens: path.join(consoleFolder, 'styles/tokens.css'),
    },
    outdir: built,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    external: ['./icon.svg'],
    legalComments: 'eof',
    logLevel: 'warning',
  });
  copyFileSync(path.join(consoleFolder, 'index.html'), path.join(built, 'index.html'));
}

const isFast = hasPrograms();
const options = process.argv.slice(2);
if (!options.includes('--if-needed') || !isBuilt()) {
  const began = new Date();
  // The older compiler would report settings that it does not know.
  const withoutChecks = options.includes('--no-check') || !isFast;
  rmSync(stamp, { force: true });
  compile('-p', root, ...(withoutChecks ? ['--noCheck', '--noResolve'] : []));
  if (!withoutChecks) compile('-p', consoleFolder);
  bundleConsole();
  writeFileSync(stamp, '');
  utimesSync(stamp, began, began);
}
