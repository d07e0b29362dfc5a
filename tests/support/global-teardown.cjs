const { rmSync } = require('node:fs');
const { Client } = require('pg');

module.exports = async () => {
  const server = globalThis.tenonTestServer;
  if (!server) return dropTemplate();
  await server.stop();
  rmSync(server.parent, { recursive: true, force: true });
  delete process.env.TENON_TEST_DATABASE_URL; // in watch mode the next run starts a server anew
  delete globalThis.tenonTestServer;
};

/** On a server that outlives the run. */
async function dropTemplate() {
  const client = new Client({ connectionString: process.env.TENON_TEST_DATABASE_URL });
  await client.connect();
  try {
    await client.query(`DROP DATABASE IF EXISTS ${process.env.TENON_TEST_TEMPLATE}`);
  } finally {
    await client.end();
  }
}
