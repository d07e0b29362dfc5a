/**
 * Checks the layout of the code: the rules of .dependency-cruiser.cjs, and rules that dependency-cruiser cannot check.
 *
 *   node tools/check-architecture.cjs [root]     root: the tree to check, by default this repository
 *
 * Prints a line for each violation and a summary. Exits with 1 if there is a violation.
 */
const fs = require('node:fs');
const path = require('node:path');
const { forbidden, options } = require('../.dependency-cruiser.cjs');

const SOURCE =
  /^src\/(((domain|application|infrastructure|interfaces|bootstrap)\/([a-z0-9-]+\/)*[a-z0-9.-]+|main|cli)\.ts|interfaces\/web\/(console|reference)\/([a-z0-9-]+\/)*[a-z0-9.-]+)$/;
const MOST_LINES = { src: 300, tests: 400 };
const COMMENT = /(^|\s)(\/\/|\/?\*).*/;
const GENERATED = 'src/interfaces/web/console/shared/openapi-types.d.ts';

/** Words that only a few places may use. Other code uses a port. Child processes have no container and so no ports. */
const CONFINED = [
  {
    rule: 'clock-confined',
    words: /\bnew Date(\(\)|\b(?!\())|\b(Date|performance)\.now\b|\bMath\.random\b|\brandomUUID\b/,
    owners: /^src\/(infrastructure\/(system|http-client|onnx-chat\/worker)|interfaces\/web\/console)\//,
    advice: 'ask Clock for the time, and the port of identifiers for chance',
  },
  {
    rule: 'env-confined',
    words: /\bprocess\.env\b|\benv\b.*=\s*process\b/,
    owners: /^src\/(bootstrap\/config|infrastructure\/(onnx|onnx-chat|model-server|child-process|embedded-postgres))\//,
    advice: 'read settings in src/bootstrap/config and pass them in',
  },
  {
    rule: 'console-confined',
    words: /\bconsole\.(log|debug|info|warn|error|dir|table|trace)\b/,
    owners: /^src\/(main\.ts$|infrastructure\/logging\/)/,
    advice: 'use the port of the log',
  },
];

function readFiles(root, folder) {
  const start = path.join(root, folder);
  if (!fs.existsSync(start)) return [];
  const names = fs.readdirSync(start, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return names
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .sort()
    .map((name) => ({ name, text: fs.readFileSync(path.join(root, name), 'utf8') }));
}

/** The console runs in browsers and shares no code with the service. It knows the API only from generated types. */
const CONSOLE = 'src/interfaces/web/console/';
const CONSOLE_PACKAGES = /^(preact(\/hooks)?|@preact\/signals|openapi-fetch)$/;

const importsOf = ({ text }) =>
  [...text.matchAll(/^(?:import\b[^;]*?|export\b[^;]*?\bfrom )'([^'\n]+)';$/gm)].map(([, from]) => from);

function consoleViolations(file) {
  const { name } = file;
  return importsOf(file)
    .filter((from) => !CONSOLE_PACKAGES.test(from))
    .filter((from) => !from.startsWith('.') || !path.posix.join(path.dirname(name), from).startsWith(CONSOLE))
    .map(
      (from) => `console-alone  ${name}  → ${from}: the console imports its own files and ${CONSOLE_PACKAGES.source}`,
    );
}

/** Finds circles of imports. Reports each at its first file, with the way back to it. */
function consoleCycles(files) {
  const imported = new Map(
    files.map((file) => {
      const stems = importsOf(file).map((from) => path.posix.join(path.dirname(file.name), from).replace(/\.js$/, ''));
      return [
        file.name,
        files.map(({ name }) => name).filter((name) => stems.includes(name.replace(/(\.d)?\.tsx?$/, ''))),
      ];
    }),
  );
  const wayTo = (target, from, seen) => {
    if (seen.has(from)) return null;
    seen.add(from);
    for (const next of imported.get(from)) {
      const rest = next === target ? [next] : wayTo(target, next, seen);
      if (rest) return [from, ...rest];
    }
    return null;
  };
  const { comment } = forbidden.find(({ name }) => name === 'no-cycles');
  const found = [];
  for (const { name } of files) {
    const way = found.flat().includes(name) ? null : wayTo(name, name, new Set());
    if (way) found.push(way);
  }
  return found.map(([name, ...way]) => `no-cycles  ${name}  → ${way.join(' → ')}: ${comment}`);
}

/** Checks imports, cycles and layers. Also reports files that dependency-cruiser skips: they would break no rule. */
async function importViolations(root, src) {
  const { cruise } = await import('dependency-cruiser');
  const { output } = await cruise(['src'], { ...options, baseDir: root, validate: true, ruleSet: { forbidden } });
  const seen = new Set(output.modules.map(({ source }) => source));
  const advice = new Map(forbidden.map(({ name, comment }) => [name, comment]));
  return [
    ...src.filter(({ name }) => !seen.has(name)).map(({ name }) => `not-seen  ${name}  dependency-cruiser skipped it`),
    ...output.summary.violations.map(
      ({ rule, from, to }) => `${rule.name}  ${from}  → ${to}: ${advice.get(rule.name)}`,
    ),
  ];
}

function fileViolations({ name, text }) {
  const [folder] = name.split('/');
  const lines = text.replace(/\n$/, '').split('\n');
  const found = [];
  if (lines.length > MOST_LINES[folder] && name !== GENERATED)
    found.push(`short-files  ${name}  ${lines.length} lines, at most ${MOST_LINES[folder]}`);
  if (folder !== 'src') return found;
  if (!SOURCE.test(name))
    found.push(`known-place  ${name}  put it into a layer, and name it in small letters with hyphens`);
  for (const { rule, words, advice } of CONFINED.filter(({ owners }) => !owners.test(name)))
    for (const [at, line] of lines.entries())
      if (words.test(line.replace(COMMENT, ''))) found.push(`${rule}  ${name}:${at + 1}  ${advice}`);
  return found;
}

/** Checks that the tests with contract suites name each adapter, also one that inherits its port from a base class. */
function contractViolations(src, tests) {
  const runs = tests.filter(({ name }) => /^tests\/(contracts|support)\//.test(name) && !name.endsWith('.contract.ts'));
  const ports = src
    .filter(({ name }) => /^src\/application\/.*\/ports\.ts$/.test(name))
    .flatMap(({ text }) => [...text.matchAll(/^export abstract class (\w+)/gm)].map(([, port]) => port));
  const classes = src
    .filter(({ name }) => name.startsWith('src/infrastructure/'))
    .flatMap(({ name, text }) =>
      [...text.matchAll(/^(?:export )?(abstract )?class (\w+)([^{;]*)\{/gm)].map(
        ([, isAbstract, adapter, heritage]) => {
          return { name, adapter, isAbstract, parents: heritage.match(/\w+/g) ?? [] };
        },
      ),
    );
  const implementsPort = ({ parents }, children = []) =>
    ports.some((port) => parents.includes(port)) ||
    classes.some(
      (one) => parents.includes(one.adapter) && !children.includes(one) && implementsPort(one, [...children, one]),
    );
  return classes
    .filter((one) => !one.isAbstract && implementsPort(one))
    .filter(({ adapter }) => !runs.some(({ text }) => new RegExp(`\\b${adapter}\\b`).test(text)))
    .map(({ adapter, name }) => `adapter-under-contract  ${name}  run the contract suite of its port on ${adapter}`);
}

async function main(root) {
  const src = readFiles(root, 'src');
  const tests = readFiles(root, 'tests').filter(({ name }) => name.endsWith('.ts'));
  const consoleFiles = src.filter(({ name }) => name.startsWith(CONSOLE));
  if (src.length === 0) throw new Error(`there is no source file below ${root}`);
  const violations = [
    ...(await importViolations(
      root,
      src.filter(({ name }) => !name.startsWith(CONSOLE) && !name.endsWith('.html')),
    )),
    ...consoleFiles.flatMap(consoleViolations),
    ...consoleCycles(consoleFiles),
    ...[...src, ...tests].flatMap(fileViolations),
    ...contractViolations(src, tests),
  ];
  console.log([...violations, `layers: ${src.length} modules, ${violations.length} violations`].join('\n'));
  process.exitCode = Number(violations.length > 0);
}

main(fs.realpathSync(process.argv[2] ?? path.join(__dirname, '..'))).catch((error) => {
  console.error(`layers: the check itself failed: ${error.message}`);
  process.exitCode = 1;
});
