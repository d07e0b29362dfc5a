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

/** Packages with ECMAScript modules or with `import()`. Jest must compile them to CommonJS. */
const modules = ['inversify', '@inversifyjs', 'jose', '@opentelemetry/otlp-exporter-base', '@llamaindex/openai'];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/tests/support/environment.cjs',
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
  // Jest makes globals slow. The parser of CSV reads `Math` for each byte.
  sandboxInjectedGlobals: ['Math'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc], '/node_modules/.+\\.c?js$': ['@swc/jest', swc] },
  transformIgnorePatterns: [`/node_modules/(?!(${modules.join('|')})/)`],
  // Jest remembers what a resolver has found, but not what `moduleNameMapper` has found.
  resolver: '<rootDir>/tests/support/resolver.cjs',
};
