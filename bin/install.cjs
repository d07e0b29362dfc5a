/** Runs when npm installs Tenon. Also works if it is never run (`--ignore-scripts`). */
const { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { packagedNode } = require('./packaged-node.cjs');

/**
 * Keeps onnxruntime-node from downloading CUDA libraries. Tenon never loads them, they are large, and without the
 * internet a failed download fails the whole installation. The `postinstall` script of onnxruntime-node downloads
 * nothing if the files exist. npm runs the `install` scripts of all packages first, so this script creates empty files.
 */
function skipCuda() {
  const platform = `${process.platform}/${process.arch}`;
  const { requirements, manifests } = require('onnxruntime-node/script/install-metadata.js');
  const folder = path.join(path.dirname(require.resolve('onnxruntime-node/package.json')), 'bin/napi-v6', platform);
  mkdirSync(folder, { recursive: true });
  for (const name of requirements[platform] ?? []) {
    for (const file of Object.keys(manifests[`${platform}:${name}`])) {
      writeFileSync(path.join(folder, file), '', { flag: 'a' });
    }
  }
}

/**
 * Links `node_modules/.bin/node`, which the scripts of npm find first. npm makes this link, too, but npm 10 removes its
 * link when it removes the packages for other platforms.
 */
function linkNode() {
  const link = path.join(__dirname, '../node_modules/.bin/node');
  const node = packagedNode();
  if (node && existsSync(path.dirname(link)) && !existsSync(link)) {
    rmSync(link, { force: true });
    symlinkSync(path.relative(path.dirname(link), node), link);
  }
}

const { ONNXRUNTIME_NODE_INSTALL, npm_config_onnxruntime_node_install } = process.env;
try {
  if (ONNXRUNTIME_NODE_INSTALL === undefined && npm_config_onnxruntime_node_install === undefined) skipCuda();
} catch (error) {
  console.warn(`tenon: set ONNXRUNTIME_NODE_INSTALL=skip if the installation fails (${error.message})`);
}
try {
  linkNode();
} catch (error) {
  console.warn(`tenon: the scripts of npm run on the Node of the machine (${error.message})`);
}
