/**
 * Lists which files and packages a file below src may import. `npm run layers` runs these rules and more, by
 * tools/check-architecture.cjs. A rule's comment is printed beside a violation. Type-only imports count like any other.
 */

/** Matches the files of npm packages and of their separate type packages. */
const packages = (...names) => `node_modules/(@types/)?(${names.join('|')})/`;

const rule = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to });

const layer = (name, from, to, comment) => rule(name, { path: from }, to, comment);

/** Keeps a technology behind the folders that own it. */
const confined = (name, names, owners) =>
  rule(
    name,
    { path: '^src/', pathNot: owners.map((owner) => `^src/${owner}/`) },
    { path: packages(...names) },
    `only below ${owners.map((owner) => `src/${owner}`).join(' and ')}: use a port, or move the code there`,
  );

module.exports = {
  forbidden: [
    layer('domain-is-pure', '^src/domain/', { pathNot: '^src/domain/' }, 'the domain imports nothing but the domain'),
    layer(
      'application-looks-inwards',
      '^src/application/',
      { pathNot: ['^src/(application|domain)/', packages('inversify')] },
      'the application imports only application and domain, and @injectable: declare a port for what it needs',
    ),
    layer(
      'infrastructure-stays-behind-ports',
      '^src/infrastructure/',
      { path: '^src/(interfaces|bootstrap|main\\.ts$|cli\\.ts$)' },
      'infrastructure implements ports: it knows neither the interfaces nor the composition root',
    ),
    layer(
      'interfaces-call-use-cases',
      '^src/interfaces/',
      { path: '^src/(infrastructure|bootstrap|main\\.ts$|cli\\.ts$)' },
      'interfaces call use cases: they know neither adapters nor the composition root',
    ),
    layer(
      'main-only-boots',
      '^src/(main|cli)\\.ts$',
      { pathNot: '^src/bootstrap/' },
      'main.ts and cli.ts import only src/bootstrap',
    ),
    layer(
      'src-ships-alone',
      '^src/',
      { path: '^(tests|tools|dist)/' },
      'src is shipped without tests, tools and dist: move what both need into src',
    ),

    rule(
      'child-processes-start-fast',
      { path: '^src/infrastructure/(onnx-chat/worker|model-server/(process|protocol))' },
      { path: packages('zod') },
      'each thread of a child process would load it, which takes as long as the rest of its start: check by hand',
    ),
    confined(
      'typeorm-confined',
      ['typeorm', 'pg', 'pg-copy-streams'],
      ['infrastructure/typeorm', 'infrastructure/embedded-postgres'],
    ),
    confined('queue-confined', ['graphile-worker', '@graphile/[^/]+'], ['infrastructure/typeorm']),
    confined('express-confined', ['express', 'express-serve-static-core', 'cors'], ['interfaces']),
    confined('container-confined', ['@inversifyjs/[^/]+', 'reflect-metadata'], ['bootstrap']),
    confined(
      'onnx-confined',
      ['onnxruntime-node', 'onnxruntime-common', '@huggingface/[^/]+'],
      ['infrastructure/onnx', 'infrastructure/onnx-chat', 'infrastructure/model-server'],
    ),
    confined('grammar-confined', ['@mlc-ai/[^/]+'], ['infrastructure/onnx-chat/worker/grammar']),
    confined('serving-libraries-confined', ['lossless-json'], ['infrastructure/model-server']),
    confined('prometheus-confined', ['prom-client'], ['infrastructure/model-server', 'infrastructure/prometheus']),
    confined('undici-confined', ['undici', 'eventsource-parser'], ['infrastructure/http-client']),
    confined('opentelemetry-confined', ['@opentelemetry/[^/]+'], ['infrastructure/opentelemetry']),
    confined('s3-confined', ['@aws-sdk/[^/]+', '@smithy/[^/]+'], ['infrastructure/s3']),
    confined('nodemailer-confined', ['nodemailer'], ['infrastructure/smtp']),
    confined('standardwebhooks-confined', ['standardwebhooks'], ['infrastructure/webhooks']),
    confined('logging-confined', ['winston', 'rotating-file-stream'], ['infrastructure/logging']),
    confined('ajv-confined', ['ajv'], ['infrastructure/json-schema', 'infrastructure/onnx-chat']),
    confined('re2-confined', ['re2js'], ['infrastructure/masking']),
    confined('bcrypt-confined', ['bcrypt'], ['infrastructure/crypto']),
    confined('record-files-confined', ['csv-parse'], ['interfaces']),
    confined('zod-confined', ['zod'], ['interfaces', 'infrastructure', 'bootstrap']),

    rule('no-cycles', { path: '^src/' }, { circular: true }, 'break the cycle: let one side own what both need'),
    rule('no-unresolvable', { path: '^src/' }, { couldNotResolve: true }, 'nothing is found there: mend the path'),
  ],
  options: {
    // The built-in parser does not support TypeScript 7: it would skip every .ts file and report no violation.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // The parser reads no JSX. tools/check-architecture.cjs checks the imports and cycles of the console.
    exclude: { path: '^src/interfaces/web/console/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'require', 'types', 'default'],
    },
  },
};
