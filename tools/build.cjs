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
const { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');

const root = path.join(__dirname, '..');
const stamp = path.join(root, 'dist/built');
const consoleFolder = path.join(root, 'src/interfaces/web/console');
const referenceFolder = path.join(root, 'src/interfaces/web/reference');
const built = path.join(root, 'dist/console');

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

/**
 * Makes each page import the app, which is always loaded before it. So the app and all that pages share with it become
 * one file. Without this, each set of pages would share a file of its own, and a browser loads only six at a time.
 */
const onTopOfApp = {
  name: 'on-top-of-app',
  setup({ onResolve, onLoad }) {
    const pages = new Set();
    onResolve({ filter: /\.js$/ }, ({ kind, path: name, resolveDir }) => {
      if (kind === 'dynamic-import') pages.add(path.join(resolveDir, name.replace(/\.js$/, '.tsx')));
    });
    onLoad({ filter: /\.tsx$/ }, ({ path: file }) => {
      if (!pages.has(file)) return undefined;
      const app = path.relative(path.dirname(file), path.join(consoleFolder, 'app.js'));
      return { contents: `import '${app}';\n${readFileSync(file, 'utf8')}`, loader: 'tsx' };
    });
  },
};

/** Bundles the console and the API reference. The name of a file contains a hash of its content. */
async function bundleConsole() {
  rmSync(built, { recursive: true, force: true });
  await bundle(consoleFolder, { start: 'start.ts', console: 'main.tsx', styles: 'styles/console.css' }, 'index.html');
  await bundle(referenceFolder, { reference: 'reference.js' }, 'docs.html');
}

/** Bundles the entry points in a folder, and writes their HTML page. */
async function bundle(folder, entryPoints, page) {
  const { build } = require(isFast ? 'esbuild' : 'esbuild-wasm');
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: Object.entries(entryPoints).map(([out, file]) => ({ in: path.join(folder, file), out })),
    plugins: [onTopOfApp],
    outdir: built,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'file' },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'eof',
    logLevel: 'warning',
    metafile: true,
  });
  const outputs = Object.entries(metafile.outputs).map(([file, output]) => ({ ...output, name: path.basename(file) }));
  for (const { name, imports } of outputs) {
    if (imports.some(({ kind }) => kind === 'dynamic-import')) loadTogether(path.join(built, name), outputs);
    compress(path.join(built, name));
  }
  writeFileSync(path.join(built, page), withHashes(readFileSync(path.join(folder, page), 'utf8'), outputs));
}

const staticImports = ({ imports }) =>
  imports.filter(({ kind }) => kind === 'import-statement').map((one) => path.basename(one.path));

/** Makes a dynamic import load the imports of the file together with the file, and not one step later. */
function loadTogether(script, outputs) {
  const known = new Set(outputs.filter(({ name }) => name.startsWith('console-')).flatMap(staticImports));
  const withOwn = (name) => {
    const own = staticImports(outputs.find((output) => output.name === name)).filter((one) => !known.has(one));
    return [name, ...own].map((one) => `import("./${one}")`);
  };
  const text = readFileSync(script, 'utf8').replace(/import\("\.\/([\w-]+\.js)"\)/g, (alone, name) => {
    const all = withOwn(name);
    return all.length === 1 ? alone : `Promise.all([${all}]).then(a=>a[0])`;
  });
  writeFileSync(script, text);
}

/**
 * Replaces the names of files in an HTML page by their names with hashes. Makes the browser load the imports of each
 * script before the script, the largest first. A browser loads only about six files at a time.
 */
function withHashes(html, outputs) {
  const plain = (name) => name.replace(/-[A-Z0-9]{8}(\.\w+)$/, '$1');
  const hashed = (file) => outputs.find(({ name }) => plain(name) === file);
  const preloaded = new Set();
  return html
    .replace(/<script type="module" src="(\/?pages)\/(.+?)"/g, (script, folder, file) => {
      const names = staticImports(hashed(file)).filter((name) => !preloaded.has(name));
      const preloads = outputs
        .filter(({ name }) => names.includes(name))
        .sort((one, other) => other.bytes - one.bytes)
        .map(({ name }) => {
          preloaded.add(name);
          return `<link rel="modulepreload" href="${folder}/${name}">\n`;
        });
      return preloads.join('') + script;
    })
    .replace(/"(\/?pages)\/([a-z]+\.\w+)"/g, (_, folder, file) => `"${folder}/${hashed(file).name}"`);
}

/** Writes a file also in the compressed forms that the service sends. */
function compress(file) {
  const content = readFileSync(file);
  writeFileSync(`${file}.gz`, zlib.gzipSync(content, { level: 9 }));
  writeFileSync(
    `${file}.br`,
    zlib.brotliCompressSync(content, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 9 } }),
  );
}

const isFast = hasPrograms();

async function main() {
  const options = process.argv.slice(2);
  if (options.includes('--if-needed') && isBuilt()) return;
  const began = new Date();
  // The older compiler would report settings that it does not know.
  const withoutChecks = options.includes('--no-check') || !isFast;
  rmSync(stamp, { force: true });
  compile('-p', root, ...(withoutChecks ? ['--noCheck', '--noResolve'] : []));
  if (!withoutChecks) compile('-p', consoleFolder);
  await bundleConsole();
  writeFileSync(stamp, '');
  utimesSync(stamp, began, began);
}

void main();
