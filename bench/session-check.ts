import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Service } from '../tests/support/service.js';
import { register } from '../tests/support/workspace.js';
import { SERIAL } from './callers.js';
import { installed, query, Stage } from './peers.js';
import type { PlainServer } from './plain-express.js';
import { compare, medianOf, ratio, type Target, told, wanted } from './rounds.js';

/**
 * Compares GET /v1/auth/me with the same check on plain Express and pg, and with better-auth's session check. Then
 * compares the creation of an invite with that of better-auth's plugin for organizations, while 900 invites are pending
 * on average. All use one PostgreSQL server, and take turns in each round. `npm run bench:session-check [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const CALLERS = 32;
const BETTER_AUTH = ['better-auth@1.7.25', 'pg@8.23.1'];
/** The pending invites before each measurement, and the invites that a measurement adds. */
const [PENDING, ADDED] = [850, 100];

/** The server of better-auth, written as its documentation shows. */
const PROGRAM = `
import { createServer } from 'node:http';
import { betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { organization } from 'better-auth/plugins';
import pg from 'pg';
const auth = betterAuth({
  database: new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 }),
  baseURL: process.env.BASE_URL,
  secret: 'a secret of this benchmark, long enough',
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [organization({ invitationLimit: 1000 })],
});
await (await getMigrations(auth.options)).runMigrations();
createServer(toNodeHandler(auth)).listen(Number(new URL(process.env.BASE_URL).port), '127.0.0.1');
`;

interface Contender {
  readonly check: Target;
  readonly invite: Target;
}

async function main(): Promise<void> {
  const stage = await Stage.open();
  const databaseUrl = await stage.database('ours');
  const service = await Service.start({ databaseUrl });
  try {
    const { token } = await register(service, 'Ada');
    const headers = { authorization: `Bearer ${token}` };
    const ours: Contender = {
      check: { name: 'ours', url: `${service.url}/v1/auth/me`, headers, pid: service.pid },
      invite: {
        name: 'ours',
        url: `${service.url}/v1/auth/invites`,
        headers,
        body: JSON.stringify({ email: `${SERIAL}@example.com`, role: 'member' }),
        pid: service.pid,
        ...(await pendingInvites(databaseUrl, 'invites', (body) => service.post('/v1/auth/invites', token, body))),
      },
    };
    const plain = await stage.fork<PlainServer>('plain-express.js', await stage.database('plain'), stage.folder);
    const check: Target = {
      name: 'plain',
      url: `${plain.message.url}/v1/auth/me`,
      headers: { authorization: `Bearer ${plain.message.token}` },
      pid: plain.pid,
    };
    await measure(stage, ours, check, await betterAuth(stage));
  } finally {
    await service.stop();
    await stage.close();
  }
}

async function measure(stage: Stage, ours: Contender, plain: Target, peer: Contender | null): Promise<void> {
  const options = { rounds: ROUNDS, callers: CALLERS, postgres: stage.postgres };
  const checks = await compare([ours.check, plain, ...(peer ? [peer.check] : [])], options);
  console.log(`\nan invite, with ${PENDING} to ${PENDING + ADDED} pending ones`);
  const invites = await compare([ours.invite, ...(peer ? [peer.invite] : [])], { ...options, rounds: 3 * ROUNDS });
  console.log();
  wanted('session checks / plain Express', medianOf(checks.rates.ours, checks.rates.plain, ratio), 'at least', 0.6);
  told('processor time, plain / ours', medianOf(checks.processor.plain, checks.processor.ours, ratio));
  if (!peer) return;
  const { name } = peer.check;
  wanted('session checks / better-auth', medianOf(checks.rates.ours, checks.rates[name], ratio), 'at least', 6);
  wanted('invites / better-auth, 32 callers', medianOf(invites.rates.ours, invites.rates[name], ratio), 'at least', 3);
  wanted('invites / better-auth, one caller', medianOf(invites.times[name], invites.times.ours, ratio), 'at least', 3);
}

async function betterAuth(stage: Stage): Promise<Contender | null> {
  const folder = installed(...BETTER_AUTH);
  if (!folder) return null;
  const program = join(folder, 'server.mjs');
  await writeFile(program, PROGRAM);
  const databaseUrl = await stage.database('better_auth');
  const { pid, url } = await stage.spawn('/api/auth/ok', (port) => ({
    args: [program],
    env: { DATABASE_URL: databaseUrl, BASE_URL: `http://127.0.0.1:${port}` },
  }));
  let headers: Record<string, string> = { origin: url };
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
    const answer = await fetch(`${url}/api/auth${path}`, { ...init, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`better-auth: ${path} ${answer.status} ${await answer.text()}`);
    return answer;
  };
  const ada = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };
  const signedUp = await post('/sign-up/email', ada);
  const cookie = signedUp.headers.getSetCookie().map((one) => one.split(';', 1)[0]);
  headers = { ...headers, cookie: cookie.join('; ') };
  const created = await post('/organization/create', { name: 'Team', slug: 'team' });
  const { id } = (await created.json()) as { id: string };
  const invite = (body: object) => post('/organization/invite-member', { ...body, organizationId: id });
  const body = JSON.stringify({ email: `${SERIAL}@example.com`, role: 'member', organizationId: id });
  const target = { name: 'better-auth', headers, pid };
  return {
    check: { ...target, url: `${url}/api/auth/get-session` },
    invite: {
      ...target,
      url: `${url}/api/auth/organization/invite-member`,
      body,
      ...(await pendingInvites(databaseUrl, 'invitation', invite)),
    },
  };
}

/** Invites the first people. Before each measurement, the invites of the last one are removed. */
async function pendingInvites(databaseUrl: string, table: string, invite: (body: object) => Promise<unknown>) {
  for (let nth = 0; nth < PENDING; nth++) await invite({ email: `pending-${nth}@example.com`, role: 'member' });
  await query(databaseUrl, `VACUUM ANALYZE ${table}`);
  const prepare = () => query(databaseUrl, `DELETE FROM ${table} WHERE email NOT LIKE 'pending-%'`);
  return { most: ADDED, prepare };
}

void main();
