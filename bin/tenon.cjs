#!/usr/bin/env node
/**
 * Runs the command line on the Node.js that is installed with Tenon, or on the present one if there is none. Builds the
 * code first if there is no complete build.
 */
const { spawn, spawnSync } = require('node:child_process');
const { existsSync, realpathSync } = require('node:fs');
const path = require('node:path');
const { packagedNode } = require('./packaged-node.cjs');

const PARENT_CHECK_MS = 500;
/** Without a limit, V8 lets garbage fill memory that the service does not need. `npm start` has the same limit. */
const HEAP_LIMIT = '--max-old-space-size=1024';

const root = path.join(__dirname, '..');
const program = path.join(root, 'dist/src/cli.js');
/** `tools/build.cjs` writes this file at the end of a build. */
const built = path.join(root, 'dist/built');

/** Runs the program on `node`, passes on signals, and ends as the program ends. */
function run(node) {
  // The program stops when the channel closes. So it also ends if this process is killed.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
  const child = spawn(node, [HEAP_LIMIT, ...process.execArgv, program, ...process.argv.slice(2)], { stdio });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', () => require(program)); // it cannot run here, so the present Node.js serves
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
  if (process.env.npm_command === 'exec') whenParentEnds(() => child.kill('SIGTERM'));
}

/** Calls `stop` when the parent process ends. npx starts a command in a shell, which does not pass on a SIGTERM. */
function whenParentEnds(stop) {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop(), PARENT_CHECK_MS).unref();
}

function fail(message) {
  process.stderr.write(`tenon: ${message}\n`);
  process.exitCode = 1;
}

if (!existsSync(built)) {
  process.stderr.write('tenon: building the code for the first run\n');
  // Only the command itself writes to standard output.
  spawnSync(process.execPath, [path.join(root, 'tools/build.cjs')], { stdio: ['ignore', 2, 2] });
}
const node = packagedNode();
if (!existsSync(built)) fail(`the build has failed: run "npm ci" and "npm run build" in ${root}`);
else if (node && realpathSync(node) !== realpathSync(process.execPath)) run(node);
else require(program);
