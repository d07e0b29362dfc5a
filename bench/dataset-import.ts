import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { createProject, register } from '../tests/support/workspace.js';
import { median } from './rounds.js';

/**
 * Measures an import of 500 records over HTTP, up to the last byte of its answer. Compares it with one INSERT of the
 * same records as rows of JSON on the same PostgreSQL server, in turns. `npm run bench:dataset-import [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 20);
const WARM_UP = 3;
const RECORDS = 500;
const TARGET = 5;

/** The length of each of 46 extra values that a record gets. With 0 the record gets 4 extra values of 60 characters. */
const sizes: readonly (readonly [about: string, length: number])[] = [
  ['about 5 MB', 204],
  ['about 800 KB', 20],
  ['about 200 KB, 8 fields', 0],
];

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const server = await startEmbeddedPostgres({ folder: join(folder, 'postgres') });
  const service = await Service.start({ databaseUrl: server.url });
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const { token } = await register(service, 'Ada');
  const url = `${service.url}/v1/projects/${await createProject(service, token)}/datasets`;
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };

  for (const [about, length] of sizes) {
    const records = Array.from({ length: RECORDS }, (_, n) => record(n, length));
    const body = JSON.stringify({ records });
    const rows = records.map((one) => JSON.stringify(one));
    const imported = async () => {
      const response = await fetch(url, { method: 'POST', headers, body });
      await response.arrayBuffer();
      if (response.status !== 201) throw new Error(`the import answered ${response.status}`);
    };
    await client.query('DROP TABLE IF EXISTS plain');
    await client.query('CREATE TABLE plain (id bigserial PRIMARY KEY, record json NOT NULL)');
    const insert = `INSERT INTO plain (record) VALUES ${rows.map((_, n) => `($${n + 1})`).join(', ')}`;
    const contenders = [
      { act: imported, times: [] as number[] },
      { act: () => client.query(insert, rows), times: [] as number[] },
    ] as const;
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      for (const { act, times } of contenders) {
        const begun = performance.now();
        await act();
        if (round >= 0) times.push(performance.now() - begun);
      }
    }
    const [http, plain] = contenders.map(({ times }) => median(times)) as [number, number];
    const ratio = http / plain;
    console.log(
      `${about} (${body.length} bytes)  import ${http.toFixed(1)} ms  plain insert ${plain.toFixed(1)} ms  ` +
        `ratio ${ratio.toFixed(2)}, ${ratio <= TARGET ? 'within' : 'beyond'} ${TARGET}`,
    );
    if (ratio > TARGET) process.exitCode = 1;
  }
  await client.end();
  await service.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

function record(number: number, length: number): object {
  const further = Array.from({ length: length > 0 ? 46 : 4 }, (_, n) => [`field_${n}`, 'x'.repeat(length || 60)]);
  return { id: `r${number}`, group: 'g', input: 'in', expected: 'out', ...Object.fromEntries(further) };
}

void main();
