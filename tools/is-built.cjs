/** Exits with 0 if no input of the build has changed since the last build. Otherwise `npm start` builds. */
const { readdirSync, statSync } = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..');
const changedAt = (name) => statSync(path.join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;

// The time of a folder changes when a file in it is deleted.
const inFolder = (name) => [
  name,
  ...readdirSync(path.join(root, name), { recursive: true }).map((file) => path.join(name, file)),
];
const sources = [...inFolder('src'), ...inFolder('tools'), 'package.json', 'package-lock.json', 'tsconfig.json'];
const builtAt = changedAt('dist/src/main.js');

process.exitCode = Number(sources.some((name) => changedAt(name) > builtAt));
