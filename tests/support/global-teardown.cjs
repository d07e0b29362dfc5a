const { rmSync } = require('node:fs');
const { Client } = require('pg');

module.exports = async () => {
  const { folder, server } = globalThis.tenonTests;
  await (server ? server.stop() : dropTemplate());
  rmSync(folder, { recursive: true, force: true });
  // In watch mode, the next run makes its own folder and server.
  delete process.env.TMPDIR;
  if (server) delete process.env.TENON_TEST_DATABASE_URL;
};

/** Removes the template of this run from a server that outlives the run. */
async function dropTemplate() {
  const client = new Client({ connectionString: process.env.TENON_TEST_DATABASE_URL });
  await client.connect();
  try {
    await client.query(`DROP DATABASE IF EXISTS ${process.env.TENON_TEST_TEMPLATE}`);
  } finally {
    await client.end();
  }
}
