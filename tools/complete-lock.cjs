/**
 * Completes package-lock.json after `npm install`. Run it after each change of the dependencies.
 *
 * - Adds missing optional packages of other platforms. With a registry mirror that has only packages of this machine's
 *   platform, npm writes a lock file that `npm ci` refuses on every platform ("Missing: … from lock file").
 * - Marks packages whose install scripts use the network as packages without install scripts. npm before version 11.16
 *   does not read `allowScripts` in package.json, and would let onnxruntime-node download CUDA libraries.
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

/** onnxruntime-node downloads CUDA libraries, which Tenon never loads. @scarf/scarf reports installations. */
const USE_NETWORK = ['node_modules/onnxruntime-node', 'node_modules/@scarf/scarf'];

function withoutScripts(lock) {
  for (const path of USE_NETWORK) delete lock.packages[path]?.hasInstallScript;
}

const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
const added = complete(lock);
withoutScripts(lock);
fs.writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added.length} optional platform packages added`, added.join(' '));
