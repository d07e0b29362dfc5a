const { AsyncLocalStorage } = require('node:async_hooks');
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

  async teardown() {
    await super.teardown();
    for (const storage of used) storage.disable();
    used.clear();
  }
};

/**
 * The storages of the files that are over. Up to Node 22 every promise looks at each one that was ever used, whether
 * anybody still holds it or not: by the last file of a worker that takes a fifth of its time.
 */
const used = new Set();
for (const use of ['run', 'enterWith']) {
  const original = AsyncLocalStorage.prototype[use];
  AsyncLocalStorage.prototype[use] = function (...given) {
    used.add(this);
    return original.apply(this, given);
  };
}
