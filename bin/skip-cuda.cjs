/**
 * Runs when npm installs Tenon. Keeps onnxruntime-node from downloading CUDA libraries. Tenon never loads them, they
 * are large, and without the internet a failed download fails the whole installation. The `postinstall` script of
 * onnxruntime-node downloads nothing if the files exist. npm runs the `install` scripts of all packages first, so this
 * `install` script creates empty files.
 */
const { mkdirSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const chosen = process.env.ONNXRUNTIME_NODE_INSTALL ?? process.env.npm_config_onnxruntime_node_install;

function skipDownload() {
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

if (chosen === undefined) {
  try {
    skipDownload();
  } catch (error) {
    console.warn(`tenon: set ONNXRUNTIME_NODE_INSTALL=skip if the installation fails (${error.message})`);
  }
}
