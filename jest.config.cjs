const swc = {
  swcrc: false,
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: true },
    keepClassNames: true,
  },
  module: { type: 'commonjs' },
  sourceMaps: true,
};

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/tests/support/environment.cjs',
  runtime: '<rootDir>/tests/support/runtime.cjs',
  roots: ['<rootDir>/tests'],
  testMatch: ['**/*.test.ts'],
  globalSetup: '<rootDir>/tests/support/global-setup.cjs',
  testSequencer: '<rootDir>/tests/support/long-first.cjs',
  globalTeardown: '<rootDir>/tests/support/global-teardown.cjs',
  reporters: ['default', '<rootDir>/tests/support/refusals-reporter.cjs'],
  // Longer than what a test waits for (tests/support/until.ts).
  testTimeout: 90_000,
  // Twice the processors of a small machine: many tests wait for other processes.
  maxWorkers: 4,
  // The streams and sockets of the worker use them.
  fakeTimers: { doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] },
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};
