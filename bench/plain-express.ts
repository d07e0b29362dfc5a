import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Pool } from 'pg';
import { z } from 'zod';

/**
 * Runs as a process: a session check as plain as it can be written with Express, zod, pg and a counting rate limiter. Takes
 * the URL of a database, and sends its port and a token to its parent.
 */
const WINDOW_MS = 60_000;
const MOST_CALLS = 1_000_000;

const Account = z.object({ id: z.string(), name: z.string(), email: z.string(), role: z.string() });
const digestOf = (token: string) => createHash('sha256').update(token).digest('hex');

async function main(databaseUrl: string): Promise<void> {
  const pool = new Pool({ connectionString: databaseUrl });
  const token = randomBytes(32).toString('hex');
  await pool.query(`CREATE TABLE accounts (id text PRIMARY KEY, name text, email text, role text);
    CREATE TABLE sessions (digest text PRIMARY KEY, account_id text REFERENCES accounts, expires_at timestamptz)`);
  await pool.query(`INSERT INTO accounts VALUES ('acc_1', 'Ada', 'ada@example.com', 'admin')`);
  await pool.query(`INSERT INTO sessions VALUES ($1, 'acc_1', now() + interval '1 day')`, [digestOf(token)]);

  const calls = new Map<string, { count: number; until: number }>();
  const app = express().disable('x-powered-by').disable('etag');
  app.use((_request, response, next) => {
    response.set('X-Request-Id', randomUUID());
    next();
  });
  app.get('/v1/auth/me', async (request, response) => {
    const credential = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const { rows } = await pool.query({
      name: 'session',
      text: `SELECT a.id, a.name, a.email, a.role FROM sessions s JOIN accounts a ON a.id = s.account_id
              WHERE s.digest = $1 AND s.expires_at > now()`,
      values: [digestOf(credential)],
    });
    const account = Account.safeParse(rows[0]);
    if (!account.success) return void response.status(401).json({ code: 'unauthorized' });
    const now = Date.now();
    const counted = calls.get(account.data.id);
    const current = counted && counted.until > now ? counted : { count: 0, until: now + WINDOW_MS };
    calls.set(account.data.id, { ...current, count: current.count + 1 });
    if (current.count >= MOST_CALLS) return void response.status(429).json({ code: 'rate_limited' });
    response.json(account.data);
  });
  const server = app.listen(0, '127.0.0.1', () =>
    process.send?.({ port: (server.address() as AddressInfo).port, token }),
  );
}

process.once('disconnect', () => process.exit());
void main(process.argv[2] as string);
