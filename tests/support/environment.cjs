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
};
