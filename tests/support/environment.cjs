const { TestEnvironment } = require('jest-environment-node');

/** ONNX Runtime makes Node's own arrays, and refuses those of another context. Jest does the same for Uint8Array. */
const TYPED_ARRAYS = [
  ...[Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array, BigUint64Array, BigInt64Array],
  ...[Float32Array, Float64Array],
];

/**
 * Offers two things to all tests of a file: `undocumented`, which compares an answer with `openapi.json`, and
 * `testHasFailed`. A module that is required here lives as long as the worker, so each schema is compiled only once.
 */
module.exports = class extends TestEnvironment {
  async setup() {
    await super.setup();
    for (const type of TYPED_ARRAYS) this.global[type.name] = type;
    this.global.undocumented = (...answer) => require('./documented-answers.cjs').undocumented(...answer);
  }

  handleTestEvent({ name }) {
    if (name === 'test_start' || name === 'test_fn_failure') this.global.testHasFailed = name !== 'test_start';
  }
};
