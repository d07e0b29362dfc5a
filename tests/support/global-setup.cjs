const { randomBytes } = require('node:crypto');
const {
  accessSync,
  appendFileSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
} = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const built = path.join(__dirname, '../../dist/src/infrastructure/embedded-postgres/embedded-postgres.js');

/** A file system in memory. Each database has some 500 files, which take long on a disk. */
const MEMORY = '/dev/shm';
const MEMORY_WANTED = 4 * 2 ** 30;

/**
 * Gives the whole run a folder for all that is temporary, and one PostgreSQL server: the one that
 * TENON_TEST_DATABASE_URL names, or an embedded one. `database.ts` makes the databases on it.
 */
module.exports = async () => {
  // Tests load ONNX Runtime themselves, too; it would report to its makers.
  process.env.ORT_DISABLE_TELEMETRY = '1';
  // A name for this run alone, so that a lasting server never offers the tables of an earlier state of the code.
  process.env.TENON_TEST_TEMPLATE = `tenon_template_${randomBytes(6).toString('hex')}`;
  const folder = mkdtempSync(path.join(inMemory() ? MEMORY : tmpdir(), 'tenon-tests-'));
  chmodSync(folder, 0o711); // PostgreSQL's own account has to get through
  process.env.TMPDIR = folder;
  // The services keep their compiled code there, for the next service. For the workers of jest it would not pay.
  process.env.TENON_TEST_COMPILED = path.join(folder, 'compiled');
  globalThis.tenonTests = { folder };
  if (process.env.TENON_TEST_RELEASES === 'mixed') copyNextRelease(path.join(folder, 'next-release'));
  if (process.env.TENON_TEST_DATABASE_URL) return;
  if (!existsSync(built)) throw new Error('The tests start the compiled database: run `npm run build` first.');
  try {
    // Several tests at once start several services, and each holds as many connections as its pool allows.
    const server = await require(built).startEmbeddedPostgres({
      folder: path.join(folder, 'postgres'),
      maxConnections: 400,
    });
    hurry(path.join(folder, 'postgres/data'));
    process.env.TENON_TEST_DATABASE_URL = server.url;
    globalThis.tenonTests.server = server;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
};

/** Makes all but the first process of a service the next release (`npm run test:mixed`). */
function copyNextRelease(folder) {
  const { ADDITIONS, copyAsRelease } = require('../../dist/tests/support/other-release.js');
  const { RELEASE } = require('../../dist/src/infrastructure/typeorm/releases.js');
  mkdirSync(folder);
  const next = { number: RELEASE.number + 1, version: '0.0.0-next', migrations: { additions: ADDITIONS } };
  process.env.TENON_TEST_NEXT_RELEASE = copyAsRelease(folder, next);
}

function inMemory() {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_WANTED;
  } catch {
    return false;
  }
}

/** Makes writes and drops of databases fast. No data has to survive a crash of the machine, no table needs a vacuum. */
const HURRIED = ['fsync = off', 'full_page_writes = off', 'autovacuum = off'];

function hurry(cluster) {
  appendFileSync(path.join(cluster, 'postgresql.conf'), `\n${HURRIED.join('\n')}\n`);
  process.kill(Number.parseInt(readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8'), 10), 'SIGHUP');
}
