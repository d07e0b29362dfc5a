/**
 * Counts the size of the code, and prints each count with its target. It is not a test.
 *
 *   npm run house [-- --list]     --list: also the files and statements that were counted
 *
 * V8 counts the files that a chat call executes. A service loads this file (`node --require`), and then writes the
 * names of the files that it executed between two signals.
 */
const fs = require('node:fs');
const inspector = require('node:inspector');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');

const root = path.join(__dirname, '..');
const built = path.join(root, 'dist/src/');
const SIGNAL = 'SIGUSR2';
const CALLS = 3;

/** Runs in the service. At each signal, writes the compiled files that the service executed since the last signal. */
function reportExecutedFiles(report) {
  const session = new inspector.Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  process.on(SIGNAL, () =>
    session.post('Profiler.takePreciseCoverage', (error, coverage) => {
      if (error) throw error;
      const executed = coverage.result
        .filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0))
        .map(({ url }) => url.replace('file://', ''))
        .filter((file) => file.startsWith(built));
      fs.writeFileSync(`${report}.part`, JSON.stringify(executed));
      fs.renameSync(`${report}.part`, report);
    }),
  );
}

/** Returns the files that each of several chat calls to an engine elsewhere executes in the service. */
async function filesOfChatCall() {
  const { fork } = require('node:child_process');
  const { once } = require('node:events');
  const { Service } = require('../dist/tests/support/service.js');
  const workspace = require('../dist/tests/support/workspace.js');
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'tenon-house-'));
  const report = path.join(folder, 'executed.json');
  const engine = fork(path.join(root, 'dist/bench/instant-engine.js'));
  const [port] = await once(engine, 'message');
  const service = await Service.start({
    databaseUrl: null,
    env: {
      NODE_OPTIONS: `--require ${__filename}`,
      TENON_EXECUTED_FILES: report,
      SERVICE_RUNTIME_ALLOWED_HOSTS: `127.0.0.1:${port}`,
    },
  });
  const executed = async () => {
    process.kill(service.pid, SIGNAL);
    while (!fs.existsSync(report)) await delay(5);
    const files = JSON.parse(fs.readFileSync(report, 'utf8'));
    fs.rmSync(report);
    return files;
  };
  try {
    const { token, apiKey } = await workspace.register(service, 'Ada');
    const spec = { runtime: 'openai', base_url: `http://127.0.0.1:${port}/v1`, model: 'm' };
    const project = await workspace.readyProject(service, token, spec);
    let files = null;
    for (let call = 0; call <= CALLS; call++) {
      await delay(300);
      await executed();
      const { status } = await service.post(workspace.completions(project), apiKey, workspace.ask(project, 'Hello'));
      if (status !== 200) throw new Error(`the chat call was answered with ${status}`);
      const now = await executed();
      // The first call warms up. Files of background work are executed only during some calls, so they are removed.
      if (call > 0) files = (files ?? now).filter((file) => now.includes(file));
    }
    return files.map((file) => path.relative(path.join(root, 'dist'), file));
  } finally {
    await service.stop();
    engine.kill();
    fs.rmSync(folder, { recursive: true });
  }
}

function sources(folder) {
  const names = fs.readdirSync(path.join(root, folder), { recursive: true });
  return names
    .filter((name) => /\.([cm]?[jt]s|tsx|css)$/.test(name) && !name.endsWith('openapi-types.d.ts'))
    .map((name) => ({ name: path.join(folder, name), text: fs.readFileSync(path.join(root, folder, name), 'utf8') }));
}

const linesOf = (files) => files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);

/** Returns the literals that begin like SQL statements, outside migrations and backup. */
function statements(files) {
  const literal = /`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g;
  const begins =
    /^.\s*(SELECT\b|INSERT INTO|UPDATE \S+ SET|DELETE FROM|WITH \w+ AS|LOCK TABLE|SET \w+|LISTEN|CREATE (ROLE|DATABASE)|ANALYZE)/;
  return files
    .filter(({ name }) => !/\/(migrations|backup)\//.test(name))
    .flatMap(({ name, text }) =>
      (text.match(literal) ?? [])
        .filter((one) => begins.test(one))
        .map((one) => `${name}: ${one.replace(/\s+/g, ' ').slice(0, 80)}`),
    );
}

/** Returns CHANGELOG.md, and the files that the code blocks of a recipe in CONTRIBUTING.md name. */
function filesOf(recipe) {
  const text = fs.readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8');
  const section = text.split(/^## /m).find((one) => one.startsWith(`Recipe: ${recipe}\n`)) ?? '';
  const named = [...section.matchAll(/^```\w+\n(?:\/\/|@@) (\S+)$/gm)].map(([, file]) => file);
  return [...new Set([...named, 'CHANGELOG.md'])];
}

function glossaryEntries() {
  const text = fs.readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
  const section = text.split(/^## /m).find((one) => one.startsWith('Glossary')) ?? '';
  return section
    .split('\n')
    .filter((line) => /^(\| (?!-)|- )/.test(line))
    .slice(section.includes('\n|') ? 1 : 0);
}

async function main() {
  // The console is counted separately, because the targets of src are for the service.
  const inConsole = ({ name }) => name.startsWith('src/interfaces/web/console/');
  const consoleFiles = sources('src').filter(inConsole);
  const src = sources('src').filter((file) => !inConsole(file));
  const tests = sources('tests');
  const lists = {
    'files in src': src,
    'files that one chat call executes': await filesOfChatCall(),
    'files to touch for a route (recipe)': filesOf('add a route'),
    'files to touch for a field (recipe)': filesOf('add a field'),
    'SQL statements by hand outside migrations, backup': statements(src),
    'entries of the glossary': glossaryEntries(),
    'bindings in the container': src
      .filter(({ name }) => name.startsWith('src/bootstrap/'))
      .flatMap(({ text }) => text.match(/\bbind\(\w+\)/g) ?? []),
    'doc comments that begin with Of, What, Who …': [...src, ...tests].flatMap(
      ({ text }) => text.match(/\/\*\*\s*(\*\s*)?(Of|What|Whose|Whoever|Where|Who|Null)\b.*/g) ?? [],
    ),
  };
  const targets = [330, 45, 5, 6, 20, 30, 60, 0];
  const rows = Object.entries(lists).map(([name, list], at) => ({ name, count: list.length, target: targets[at] }));
  rows.splice(1, 0, { name: 'lines in src', count: linesOf(src), target: 27_000 });
  rows.splice(2, 0, { name: 'lines in tests', count: linesOf(tests), target: 24_000 });
  for (const { name, count, target } of rows)
    console.log(
      `${name.padEnd(52)}${String(count).padStart(7)}   at most ${target}${count > target ? '   missed' : ''}`,
    );
  console.log(`files and lines of the console${`${consoleFiles.length} / ${linesOf(consoleFiles)}`.padStart(29)}`);
  if (!process.argv.includes('--list')) return;
  for (const [name, list] of Object.entries(lists).slice(1)) console.log(`\n${name}:\n  ${list.join('\n  ')}`);
}

if (require.main === module) void main();
else if (process.argv[1]?.endsWith('dist/src/main.js')) reportExecutedFiles(process.env.TENON_EXECUTED_FILES);
