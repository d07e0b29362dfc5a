#!/usr/bin/env node
/** The command line. In a clone whose sources have not been compiled since they were changed it compiles them first. */
const { spawnSync } = require('node:child_process');
const { existsSync, readdirSync, statSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const compiled = path.join(root, 'dist/src/cli.js');

/** Why it is to be compiled; null where it is not, or where there is nothing to do it with. */
function reason() {
  if (!existsSync(compiled)) return 'this has not been done yet';
  const sources = path.join(root, 'src');
  if (!existsSync(sources) || !existsSync(path.join(root, 'node_modules/typescript'))) return null;
  const done = statSync(path.join(root, 'dist/bundle.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const isNewer = (name) => statSync(path.join(sources, name), { throwIfNoEntry: false })?.mtimeMs > done;
  return readdirSync(sources, { recursive: true }).some(isNewer)
    ? 'the sources are newer than what was compiled'
    : null;
}

const why = reason();
if (why) {
  process.stderr.write(`tenon: compiling, since ${why}\n`);
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status } = spawnSync(npm, ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0 || !existsSync(compiled)) {
    process.stderr.write(`tenon: it does not compile: run "npm ci" and "npm run build" in ${root}\n`);
    process.exit(1);
  }
}
require('./bundle.cjs').loadBundle().programs.commandLine();
