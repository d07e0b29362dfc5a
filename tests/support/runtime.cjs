const { createRequire, isBuiltin } = require('node:module');
const path = require('node:path');
const Runtime = require('jest-runtime').default;

const SHARED = [path.join(__dirname, '../../src/'), path.join(__dirname, '../fakes/')];
const isShared = (file) => SHARED.some((folder) => file.startsWith(folder));

/** Contains the shared modules that the test files of this worker have loaded, by their paths. */
const loaded = new Map();
const sourceMaps = new Map();
let current;

/**
 * Loads packages, the service's sources and the fakes once for all test files of a worker. Otherwise, a short test file
 * spends half of its time on that. The modules of the tests themselves are loaded anew for each test file. The sources
 * and the fakes keep no state in their modules that one test could leave to another. `jest.mock` refuses packages. A
 * test file that mocks loads the sources for itself.
 */
class SharedModules extends Runtime {
  constructor(...given) {
    super(...given);
    current = this;
    for (const [file, map] of sourceMaps) this.getSourceMaps().set(file, map);
  }

  requireModuleOrMock(from, name) {
    // A shared module calls the runtime of the test file that loaded it first, which may have ended.
    if (this !== current) return current.requireModuleOrMock(from, name);
    if (isBuiltin(name)) return super.requireModuleOrMock(from, name);
    if (!name.startsWith('.') && !path.isAbsolute(name)) return createRequire(from)(name);
    const file = path.resolve(path.dirname(from), name).replace(/\.[jt]s$/, ''); // imported as .js, found as .ts
    if (this.mocks || !isShared(file)) return super.requireModuleOrMock(from, name);
    if (!loaded.has(file)) loaded.set(file, super.requireModuleOrMock(from, name));
    return loaded.get(file);
  }

  setMock(from, name, ...given) {
    if (!isBuiltin(name) && !name.startsWith('.')) throw new Error(`${name} is a package: it cannot be mocked`);
    this.mocks = true;
    super.setMock(from, name, ...given);
  }

  teardown() {
    for (const [file, map] of this.getSourceMaps()) if (isShared(file)) sourceMaps.set(file, map);
    super.teardown();
  }
}

module.exports = { __esModule: true, default: SharedModules };
