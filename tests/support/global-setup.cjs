const { randomBytes } = require('node:crypto');
const { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const built = path.join(__dirname, '../../dist/src/infrastructure/embedded-postgres/embedded-postgres.js');

/**
 * Gives the whole run one PostgreSQL server: the one that TENON_TEST_DATABASE_URL names, or an embedded one in a
 * folder of its own. `database.ts` makes the databases on it.
 */
module.exports = async () => {
  // Tests load ONNX Runtime themselves, too; it would report to its makers.
  process.env.ORT_DISABLE_TELEMETRY = '1';
  // A name for this run alone, so that a lasting server never offers the tables of an earlier state of the code.
  process.env.TENON_TEST_TEMPLATE = `tenon_template_${randomBytes(6).toString('hex')}`;
  if (process.env.TENON_TEST_DATABASE_URL) return;
  if (!existsSync(built)) throw new Error('The tests start the compiled database: run `npm run build` first.');
  const parent = mkdtempSync(path.join(tmpdir(), 'tenon-tests-'));
  try {
    // Several tests at once start several services, and each holds as many connections as its pool allows.
    const server = await require(built).startEmbeddedPostgres({
      folder: path.join(parent, 'postgres'),
      maxConnections: 400,
    });
    hurry(path.join(parent, 'postgres/data'));
    process.env.TENON_TEST_DATABASE_URL = server.url;
    globalThis.tenonTestServer = { parent, stop: () => server.stop() };
  } catch (error) {
    rmSync(parent, { recursive: true, force: true });
    throw error;
  }
};

/** Nothing here has to outlive a crash of the machine, and each database that goes would wait for the disk. */
function hurry(cluster) {
  appendFileSync(path.join(cluster, 'postgresql.conf'), '\nfsync = off\nfull_page_writes = off\n');
  process.kill(Number.parseInt(readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8'), 10), 'SIGHUP');
}
