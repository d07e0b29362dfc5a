const { subscribe, unsubscribe } = require('node:diagnostics_channel');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const { isMainThread } = require('node:worker_threads');

/** Lasts as long as the run: V8 takes another source of the same length for the same. */
const folder = process.env.TENON_TEST_CODE_CACHE;

const REQUEST = 'http.server.request.start';

/** The loader alone handles `import()` and a line for the shell. */
const UNCACHED = /^#!|\bimport\s*\(/;

/**
 * Compiles the modules of a service that a test starts with V8's code cache, which one of the first services of the
 * run leaves at its first request. Without it, a fifth of the time in which a service starts goes to the compiler.
 */
function cacheModules() {
  const file = path.join(folder, 'modules');
  const known = read(file);
  const compiled = new Map();
  const { _compile } = Module.prototype;
  Module.prototype._compile = function (source, filename, format) {
    if (format === 'module' || UNCACHED.test(source)) return _compile.call(this, source, filename, format);
    const cachedData = known.get(filename);
    const script = new vm.Script(Module.wrap(source), { filename, cachedData });
    if (known.size === 0) compiled.set(filename, script);
    const load = script.runInThisContext();
    return load.call(this.exports, this.exports, requireOf(this), this, filename, path.dirname(filename));
  };
  const write = () => {
    unsubscribe(REQUEST, write);
    if (!mkdirSync(folder, { recursive: true })) return; // another service writes, or has written
    for (const [name, script] of compiled) known.set(name, script.createCachedData());
    writeFileSync(`${file}.unfinished`, v8.serialize(known));
    renameSync(`${file}.unfinished`, file);
  };
  if (known.size === 0) subscribe(REQUEST, write);
}

function read(file) {
  try {
    return v8.deserialize(readFileSync(file));
  } catch {
    return new Map();
  }
}

function requireOf(module) {
  const require = (name) => module.require(name);
  const resolve = (name, options) => Module._resolveFilename(name, module, false, options);
  return Object.assign(require, { resolve, main: process.mainModule, cache: Module._cache });
}

// Node 22 has a code cache of its own.
if (Module.enableCompileCache) Module.enableCompileCache(folder);
else if (isMainThread) cacheModules();
