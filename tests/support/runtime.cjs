const { createRequire, isBuiltin } = require('node:module');
const path = require('node:path');
const Runtime = require('jest-runtime').default;

/**
 * Lets Node itself load packages, once for all files of a worker. Only the project's modules are loaded for each file anew.
 * So `jest.mock` knows the project's modules and Node's, and no packages.
 */
class SharedPackages extends Runtime {
  requireModuleOrMock(from, name) {
    const isPackage = !name.startsWith('.') && !path.isAbsolute(name) && !isBuiltin(name);
    return isPackage ? createRequire(from)(name) : super.requireModuleOrMock(from, name);
  }
}

module.exports = { __esModule: true, default: SharedPackages };
