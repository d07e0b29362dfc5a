/** Builds after a change, and removes compiled files without a source, because `npm pack` takes all of dist/src. */
const { execFileSync } = require('node:child_process');
const { existsSync, readdirSync, rmSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
execFileSync(process.execPath, [path.join(__dirname, 'build.cjs'), '--if-needed'], { stdio: ['ignore', 2, 2] });
const compiled = readdirSync(path.join(root, 'dist/src'), { recursive: true }).filter((name) => name.endsWith('.js'));
for (const name of compiled) {
  if (!existsSync(path.join(root, 'src', name.replace(/js$/, 'ts')))) rmSync(path.join(root, 'dist/src', name));
}
