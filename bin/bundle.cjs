const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');

/**
 * The compiled programs in one file (tools/bundle.cjs), with what V8 made of it in the build: to find, read and compile
 * its some 1,700 modules one by one takes longer than all the rest of a start. What V8 made for another version of
 * itself, or for another state of the code, is left alone, which costs nothing but time.
 */
const folder = path.join(__dirname, '../dist');
const file = path.join(folder, 'bundle.js');
const compiled = path.join(folder, 'bundle.v8');

/** The first line of the bundle, a digest of the rest, which begins what V8 made of it, too. */
const MARK_LENGTH = '//'.length + 64 + '\n'.length;

/** The bundle's exports, and its script. */
function loadBundle() {
  const source = readFileSync(file, 'latin1'); // esbuild writes ASCII
  const script = new vm.Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
    filename: file,
    cachedData: compiledFor(source.slice(0, MARK_LENGTH)),
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, folder);
  return { programs: module.exports, script };
}

function compiledFor(mark) {
  try {
    const data = readFileSync(compiled);
    return data.toString('latin1', 0, MARK_LENGTH) === mark ? data.subarray(MARK_LENGTH) : undefined;
  } catch {
    return undefined;
  }
}

module.exports = { loadBundle, file, compiled, MARK_LENGTH };
