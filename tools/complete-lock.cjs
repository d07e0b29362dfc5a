/**
 * Completes package-lock.json after `npm install`. Run it after each change of the dependencies.
 *
 * - Adds missing optional packages of other platforms. With a registry mirror that has only packages of this machine's
 *   platform, npm writes a lock file that `npm ci` refuses on every platform ("Missing: … from lock file").
 * - Marks the packages that `allowScripts` in package.json denies as packages without install scripts. npm before
 *   version 11.16 does not read `allowScripts`, and would let onnxruntime-node download CUDA libraries.
 */
const fs = require('node:fs');

const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const PROCESSORS = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 's390x', 'riscv64', 'loong64', 'mips64el', 'wasm32'];
const EXACT_VERSION = /^\d/;

/** Returns the platform fields of a package, read from its name. Returns null if the name has no known platform. */
function platformOf(name) {
  const words = name.split('/').pop().split('-');
  const os = SYSTEMS.find((system) => words.includes(system));
  const cpu = words.includes('armv7') ? 'arm' : PROCESSORS.find((processor) => words.includes(processor));
  if (!cpu || (!os && cpu !== 'wasm32')) return null;
  const libc = words.some((word) => word.startsWith('musl')) ? 'musl' : 'glibc';
  return { cpu: [cpu], ...(os && { os: [os] }), ...(os === 'linux' && { libc: [libc] }) };
}

function complete(lock) {
  const added = [];
  for (const [path, owner] of Object.entries({ ...lock.packages })) {
    for (const [name, version] of Object.entries(owner.optionalDependencies ?? {})) {
      const known = lock.packages[`node_modules/${name}`] ?? lock.packages[`${path}/node_modules/${name}`];
      const platform = EXACT_VERSION.test(version) && platformOf(name);
      if (known || !platform) continue;
      lock.packages[`node_modules/${name}`] = { version, ...platform, ...(owner.dev && { dev: true }), optional: true };
      added.push(`${name}@${version}`);
    }
  }
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  return added;
}

/** Removes the marks of install scripts that must not run. */
function denyScripts(lock, allowScripts) {
  const denied = Object.keys(allowScripts).filter((name) => !allowScripts[name]);
  const marked = Object.entries(lock.packages).filter(([, entry]) => entry.hasInstallScript);
  const found = marked.filter(([path]) => denied.some((name) => path.endsWith(`node_modules/${name}`)));
  for (const [, entry] of found) delete entry.hasInstallScript;
  return found.map(([path]) => path);
}

const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
const added = complete(lock);
const denied = denyScripts(lock, JSON.parse(fs.readFileSync('package.json', 'utf8')).allowScripts);
fs.writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added.length} optional platform packages added`, added.join(' '));
console.log(`${denied.length} install scripts denied`, denied.join(' '));
