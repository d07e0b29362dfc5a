#!/usr/bin/env node
/** The command line. In a clone that has not been compiled yet it compiles it first. */
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const compiled = path.join(root, 'dist/src/cli.js');

if (!existsSync(compiled)) {
  process.stderr.write('tenon: compiling, since this has not been done yet\n');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { status } = spawnSync(npm, ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0 || !existsSync(compiled)) {
    process.stderr.write(`tenon: it does not compile: run "npm ci" and "npm run build" in ${root}\n`);
    process.exit(1);
  }
}
require('./bundle.cjs').loadBundle().programs.commandLine();
