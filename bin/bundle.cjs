const { createHash } = require('node:crypto');
const { existsSync, readdirSync, readFileSync, statSync } = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');

/**
 * The compiled programs in one file (tools/bundle.cjs), with what V8 made of it in the build: to find, read and compile
 * its some 1,700 modules one by one takes longer than all the rest of a start. What V8 made for another version of
 * itself or another state of the code, or what is damaged, is left alone, which costs nothing but time.
 */
const folder = path.join(__dirname, '../dist');
const file = path.join(folder, 'bundle.js');
const compiled = path.join(folder, 'bundle.v8');

/** A line that stands for what is written; the bundle begins with its own. */
const markOf = (written) => `//${createHash('sha256').update(written).digest('hex')}\n`;
const MARK_LENGTH = markOf('').length;

/** The bundle's exports, and its script. */
function loadBundle() {
  if (!existsSync(file)) {
    process.stderr.write('tenon: it has not been built yet: run "npm run build", or "npm start", which does\n');
    process.exit(1);
  }
  const source = readFileSync(file, 'latin1'); // esbuild writes ASCII
  const script = new vm.Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: file,
    cachedData: compiledOf(source.slice(0, MARK_LENGTH)),
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, folder);
  return { programs: module.exports, script };
}

/** What V8 made of the bundle with this mark, behind that and a mark of its own: V8 trusts what it is given. */
function compiledOf(mark) {
  try {
    const written = readFileSync(compiled);
    const data = written.subarray(2 * MARK_LENGTH);
    return written.toString('latin1', 0, 2 * MARK_LENGTH) === mark + markOf(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Whether what was built is of the sources and packages as they are now, as far as their times tell. */
function isCurrent() {
  const root = path.join(folder, '..');
  const changed = (name) => statSync(path.join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const below = (name) => {
    const all = existsSync(path.join(root, name)) ? readdirSync(path.join(root, name), { recursive: true }) : [];
    return [name, ...all.map((one) => path.join(name, one))];
  };
  const sources = [...below('src'), ...below('tools'), 'package.json', 'package-lock.json', 'tsconfig.json'];
  const built = changed('dist/bundle.js');
  return built > 0 && sources.every((name) => changed(name) <= built);
}

module.exports = { loadBundle, isCurrent, file, compiled, markOf };
