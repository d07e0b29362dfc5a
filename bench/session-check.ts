import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { register } from '../tests/support/workspace.js';
import { compare, freePort, installed, medianOf, type Target } from './rounds.js';

/**
 * Compares GET /v1/auth/me with the same check on plain Express and pg, and with better-auth's session check. All use
 * one PostgreSQL server, and take turns in each round. `npm run bench:session-check [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const CALLERS = 32;
const LEAST_OF_PLAIN = 0.9;
const LEAST_OF_RIVAL = 5;
const RIVAL = ['better-auth@1.7.25', 'pg@8.23.1'];

/** The rival's server, written as its documentation shows. */
const PROGRAM = `
import { createServer } from 'node:http';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import pg from 'pg';
const auth = betterAuth({
  database: new pg.Pool({ connectionString: process.env.DATABASE_URL }),
  baseURL: process.env.BASE_URL,
  secret: 'a secret of this benchmark, long enough',
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
});
await (await getMigrations(auth.options)).runMigrations();
createServer(toNodeHandler(auth)).listen(Number(new URL(process.env.BASE_URL).port), '127.0.0.1');
`;

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), maxConnections: 200 });
  const databaseUrl = (name: string) => postgres.url.replace('/tenon?', `/${name}?`);
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  for (const name of ['plain', 'rival']) await client.query(`CREATE DATABASE ${name}`);
  await client.end();

  const service = await Service.start({ databaseUrl: postgres.url });
  const { token } = await register(service, 'Ada');
  const plain = fork(join(__dirname, 'plain-express.js'), [databaseUrl('plain'), folder]);
  const [plainAt] = (await once(plain, 'message')) as [{ port: number; token: string }];
  const rival = await startRival(folder, databaseUrl('rival'));

  const targets: Target[] = [
    { name: 'ours', url: `${service.url}/v1/auth/me`, headers: { authorization: `Bearer ${token}` } },
    {
      name: 'plain',
      url: `http://127.0.0.1:${plainAt.port}/v1/auth/me`,
      headers: { authorization: `Bearer ${plainAt.token}` },
    },
  ];
  if (rival) targets.push({ name: 'better-auth', url: `${rival.url}/get-session`, headers: { cookie: rival.cookie } });
  const { rates } = await compare(targets, ROUNDS, CALLERS);
  const ofPlain = medianOf(rates.ours, rates.plain, (a, b) => a / b);
  console.log(`${ofPlain.toFixed(2)} times the calls of the plain stack, at least ${LEAST_OF_PLAIN} is wanted`);
  const ofRival = medianOf(rates.ours, rates['better-auth'], (a, b) => a / b);
  if (rival) console.log(`${ofRival.toFixed(2)} times the calls of better-auth, at least ${LEAST_OF_RIVAL} is wanted`);
  if (ofPlain < LEAST_OF_PLAIN || ofRival < LEAST_OF_RIVAL) process.exitCode = 1;

  rival?.process.kill();
  plain.disconnect();
  await service.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}

async function startRival(
  folder: string,
  databaseUrl: string,
): Promise<{ process: ChildProcess; url: string; cookie: string } | null> {
  if (!installed(folder, ...RIVAL)) return null;
  const origin = `http://127.0.0.1:${await freePort()}`;
  const program = join(folder, 'better-auth.mjs');
  await writeFile(program, PROGRAM);
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: databaseUrl, BASE_URL: origin },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `${origin}/api/auth`;
  while (!(await fetch(`${url}/ok`).catch(() => null))) await delay(100);
  const { status, headers } = await fetch(`${url}/sign-up/email`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: origin },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }),
  });
  if (status !== 200) throw new Error(`better-auth answered the sign-up with ${status}`);
  const cookie = headers.getSetCookie().map((one) => one.split(';', 1)[0]);
  return { process: child, url, cookie: cookie.join('; ') };
}

void main();
