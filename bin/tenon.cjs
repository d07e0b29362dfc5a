#!/usr/bin/env node
/** The command line. Builds a clone that has not been built yet. */
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const program = path.join(root, 'dist/src/cli.js');

if (!existsSync(program)) {
  process.stderr.write('tenon: building, since this has not been done yet\n');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  spawnSync(npm, ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] }); // standard output is the command's
}
if (existsSync(program)) require(program);
else {
  process.stderr.write(`tenon: it cannot be built: run "npm ci" and "npm run build" in ${root}\n`);
  process.exitCode = 1;
}
