/**
 * Checks the version of Node.js. `main.ts` and `cli.ts` import this file first, because an older Node.js cannot load the
 * packages that the other files import.
 */
const version = process.versions.node;
const [major = 0, minor = 0] = version.split('.').map(Number);

const isSupported = major > 22 || (major === 22 && minor >= 12);
const isEnded = major === 20 && minor >= 19;

if (isEnded) {
  process.stderr.write(`tenon: Node ${version} gets no more security fixes and is slow: use Node 24 or 22.12\n`);
} else if (!isSupported) {
  process.stderr.write(`tenon: Node ${version} is not supported: use Node 24, or at least 22.12\n`);
  process.exit(1);
}
