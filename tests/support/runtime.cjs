const { createRequire, isBuiltin } = require('node:module');
const path = require('node:path');
const Runtime = require('jest-runtime').default;

const SHARED = [path.join(__dirname, '../../src/'), path.join(__dirname, '../fakes/')];
const isShared = (file) => SHARED.some((folder) => file.startsWith(folder));

/** Holds the shared modules that the files of this worker have loaded, by their paths. */
const loaded = new Map();
const sourceMaps = new Map();
let current;

/**
 * Loads packages, the service's sources and the fakes once for all files of a worker: half of a short file's time goes
 * into that otherwise. The modules of the tests themselves are loaded for each file anew. The sources and the fakes keep
 * nothing in their modules that one test could leave to another. `jest.mock` refuses packages; a file that mocks has
 * sources of its own.
 */
class SharedModules extends Runtime {
  constructor(...given) {
    super(...given);
    current = this;
    for (const [file, map] of sourceMaps) this.getSourceMaps().set(file, map);
  }

  requireModuleOrMock(from, name) {
    // A shared module asks the runtime of the file that has loaded it.
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
