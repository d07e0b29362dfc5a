const { AsyncLocalStorage } = require('node:async_hooks');
const vm = require('node:vm');
const { TestEnvironment } = require('jest-environment-node');

/**
 * Gives every test file `undocumented`. Each file has modules of its own; what is required here lasts as long as the
 * worker, so that a schema is compiled once, when an answer needs it first.
 */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.undocumented = (...answer) => require('./documented-answers.cjs').undocumented(...answer);
  }

  handleTestEvent({ name }) {
    if (name === 'test_done') disableStorages();
  }

  async teardown() {
    await super.teardown();
    disableStorages();
  }
};

/**
 * The storages that tests have used. Up to Node 22 every promise looks at each one that is not disabled, whether anybody
 * still holds it or not: a file with hundreds of tests takes a fifth longer by that. The next use enables a storage again.
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
 * Compiles a module that an earlier file of the worker has loaded from V8's code cache, with the functions that ran
 * there. Without it, a third of the time in which a file loads the service goes to the compiler.
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
  return script.runInContext(parsingContext);
};
