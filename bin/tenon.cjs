#!/usr/bin/env node
/** Runs the command line. Builds the code first if it has never been built. */
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const program = path.join(root, 'dist/src/cli.js');

if (!existsSync(program)) {
  process.stderr.write('tenon: building the code for the first run\n');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  // Only the command itself writes to standard output.
  spawnSync(npm, ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
}
if (existsSync(program)) require(program);
else {
  process.stderr.write(`tenon: the build has failed: run "npm ci" and "npm run build" in ${root}\n`);
  process.exitCode = 1;
}
