const swc = (syntax) => [
  '@swc/jest',
  {
    swcrc: false,
    jsc: {
      target: 'es2022',
      parser: { syntax, decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: true },
      keepClassNames: true,
    },
    module: { type: 'commonjs' },
    sourceMaps: true,
  },
];

// Published as ES modules only, or importing some; Node 20 can require them, jest on Node 20 can't.
const esmOnly = '(inversify|@inversifyjs|@huggingface|jose|@opentelemetry/otlp-exporter-base)';

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
  transform: {
    '^.+\\.ts$': swc('typescript'),
    [`/node_modules/${esmOnly}/.+\\.m?js$`]: swc('ecmascript'),
  },
  transformIgnorePatterns: [`/node_modules/(?!${esmOnly}/)`],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};
