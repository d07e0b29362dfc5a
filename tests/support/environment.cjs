const { AsyncLocalStorage } = require('node:async_hooks');
const vm = require('node:vm');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/**
 * Runs the tests with Node's own globals, as the service runs. Jest's usual environment makes globals for each file: a
 * test takes a third longer with them, and packages could not be shared by the files of a worker (`runtime.cjs`).
 */
module.exports = class {
  global = globalThis;
  /** Satisfies Jest, which asks for a context. The code runs in Node's own context all the same. */
  context = {};
  fakeTimers = null;
  moduleMocker = new ModuleMocker(globalThis);

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.before = { globals: new Set(Reflect.ownKeys(globalThis)), env: { ...process.env }, exit: process.exit };
    // A module that is required here lives as long as the worker. So each schema is compiled once, at its first use.
    globalThis.undocumented = (...answer) => require('./documented-answers.cjs').undocumented(...answer);
  }

  async setup() {}

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return this.context;
  }

  handleTestEvent({ name }) {
    if (name === 'test_start' || name === 'test_fn_failure') globalThis.testHasFailed = name !== 'test_start';
    if (name === 'test_done') disableStorages();
  }

  /** Restores the globals and the environment as they were before the test file. */
  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    disableStorages();
    const { globals, env, exit } = this.before;
    if (TELEMETRY in globalThis) disableTelemetry();
    // Symbols, too: Jest's own handlers for the events of the test file are among them.
    for (const key of Reflect.ownKeys(globalThis)) if (!globals.has(key)) Reflect.deleteProperty(globalThis, key);
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.exit = exit;
    this.global = null;
  }
};

const TELEMETRY = Symbol.for('opentelemetry.js.api.1');

/** Unregisters the tracer of the test file. Otherwise the API, which all files share, would keep the first tracer. */
function disableTelemetry() {
  const { context, diag, metrics, propagation, trace } = require('@opentelemetry/api');
  for (const api of [trace, context, metrics, propagation, diag]) api.disable();
}

/**
 * Contains the storages that tests have used. Up to Node 22 every promise visits each storage that is not disabled,
 * even one that no code refers to: a file with hundreds of tests takes a fifth longer. The next use enables a storage.
 */
const used = new Set();
function disableStorages() {
  for (const storage of used) storage.disable();
  used.clear();
}
for (const use of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[use];
  AsyncLocalStorage.prototype[use] = function (...given) {
    used.add(this);
    return original.apply(this, given);
  };
}

/**
 * Compiles for Node's own globals. A module that an earlier test file of the worker has loaded comes from V8's code
 * cache, with the functions that ran there. Without the cache, compiling takes a third of the time for loading the
 * service.
 */
const compiled = new Map();
const { compileFunction } = vm;
vm.compileFunction = (code, parameters = [], options = {}) => {
  const { filename, parsingContext, importModuleDynamically } = options;
  if (!filename || !parsingContext) return compileFunction(code, parameters, options);
  const head = `(function (${parameters.join(', ')}) {`;
  const source = `${head}${code}\n})`;
  const known = compiled.get(filename)?.source === source ? compiled.get(filename) : undefined;
  if (known?.script) Object.assign(known, { cachedData: known.script.createCachedData(), script: null });
  const { cachedData } = known ?? {};
  const script = new vm.Script(source, { filename, columnOffset: -head.length, importModuleDynamically, cachedData });
  if (!known) compiled.set(filename, { source, script });
  return script.runInThisContext();
};
