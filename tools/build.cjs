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

/** Bundles the console and the API reference. The name of a file contains a hash of its content. */
function bundleConsole() {
  const { buildSync } = require(isFast ? 'esbuild' : 'esbuild-wasm');
  rmSync(built, { recursive: true, force: true });
  const { metafile } = buildSync({
    absWorkingDir: root,
    entryPoints: [
      { in: path.join(consoleFolder, 'main.tsx'), out: 'console' },
      { in: path.join(consoleFolder, 'styles/console.css'), out: 'console' },
      { in: path.join(referenceFolder, 'reference.js'), out: 'reference' },
    ],
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
  for (const { name } of outputs) compress(path.join(built, name));
  for (const page of [path.join(consoleFolder, 'index.html'), path.join(referenceFolder, 'docs.html')]) {
    writeFileSync(path.join(built, path.basename(page)), withHashes(readFileSync(page, 'utf8'), outputs));
  }
}

/**
 * Replaces the names of files in an HTML page by their names with hashes. Makes the browser load the imports of a
 * script together with the script.
 */
function withHashes(html, outputs) {
  const plain = (name) => name.replace(/-[A-Z0-9]{8}(\.\w+)$/, '$1');
  const hashed = (file) => outputs.find(({ name }) => plain(name) === file);
  return html
    .replace(/<script type="module" src="(\/?pages)\/(.+?)">/g, (script, folder, file) => {
      const imports = hashed(file).imports.filter(({ kind }) => kind === 'import-statement');
      const preloads = imports.map((one) => `<link rel="modulepreload" href="${folder}/${path.basename(one.path)}">\n`);
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
