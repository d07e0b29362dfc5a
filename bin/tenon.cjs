#!/usr/bin/env node
/** The command line. In a clone that has not been built yet it builds it first. */
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');
const { file, isCurrent, loadBundle } = require('./bundle.cjs');

const root = path.join(__dirname, '..');

function build() {
  process.stderr.write('tenon: building, since this has not been done yet\n');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status } = spawnSync(npm, ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status === 0 && existsSync(file)) return;
  process.stderr.write(`tenon: it cannot be built: run "npm ci" and "npm run build" in ${root}\n`);
  process.exit(1);
}

/** Not built without being asked: a service may run from there. */
function warnOfChanges() {
  if (isCurrent()) return;
  process.stderr.write('tenon: the sources are newer than what was built of them: "npm run build" builds it anew\n');
}

if (existsSync(file)) warnOfChanges();
else build();
loadBundle().programs.commandLine();
