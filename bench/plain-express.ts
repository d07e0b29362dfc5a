import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express, { type RequestHandler } from 'express';
import { Pool } from 'pg';
import { Agent, request as call } from 'undici';
import winston from 'winston';
import { z } from 'zod';

/**
 * A server in plain Express, pg, winston, zod and undici, as a measure for the service. It answers `GET /v1/auth/me`
 * like the service, and passes chats on to an engine. Takes the URL of a database, a folder and the URL of the engine.
 * Sends its URL and a token to its parent.
 *
 * For each call it makes a request id, sets the security headers, finds the credential and its account by the digest
 * of the credential in one prepared statement, counts the call in a sliding window, sends the headers of the limit,
 * validates the input and the answer with zod, and writes one line to the access log. Tenon does more: metrics, limits
 * for slow clients, graceful shutdown, redaction, log fields of the request, a check of `Host`, a table of routes. And
 * it stores each chat.
 */
export interface PlainServer {
  readonly url: string;
  readonly token: string;
}

const WINDOW_MS = 60_000;
const LIMIT = 1_000_000;

const Account = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(['admin', 'developer', 'member']),
  email_verified: z.boolean(),
  created_at: z.number(),
  alert_emails: z.boolean(),
});

const Question = z.object({
  model: z.string(),
  messages: z.array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })).min(1),
  max_tokens: z.int().positive().optional(),
});

const Completion = z.looseObject({
  id: z.string(),
  choices: z.array(z.looseObject({ message: z.looseObject({ role: z.string(), content: z.string().nullable() }) })),
  usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int() }),
});

const TABLES = `
  CREATE TABLE accounts (
    id text PRIMARY KEY, name text NOT NULL, email text NOT NULL, role text NOT NULL,
    email_verified_at timestamptz, created_at timestamptz NOT NULL, alert_emails boolean NOT NULL);
  CREATE TABLE sessions (
    digest text PRIMARY KEY, account_id text NOT NULL REFERENCES accounts, expires_at timestamptz NOT NULL);
  INSERT INTO accounts VALUES ('usr_1', 'Ada', 'ada@example.com', 'admin', NULL, now(), false);`;

const HOLDER = `
  SELECT a.id, a.name, a.email, a.role, a.email_verified_at, a.created_at, a.alert_emails
    FROM sessions s JOIN accounts a ON a.id = s.account_id
   WHERE s.digest = $1 AND s.expires_at > now()`;

const digestOf = (token: string) => createHash('sha256').update(token).digest('hex');

/** Estimates a sliding window: the count of this minute, and a part of the count of the last minute. */
class SlidingWindow {
  private readonly counts = new Map<string, { minute: number; now: number; before: number }>();

  /** Counts a call. Returns the remaining calls, negative beyond the limit, and the seconds until the minute ends. */
  take(key: string): { remaining: number; seconds: number } {
    const time = Date.now();
    const minute = Math.floor(time / WINDOW_MS);
    const passed = (time % WINDOW_MS) / WINDOW_MS;
    const last = this.counts.get(key);
    let [before, now] = [0, 1];
    if (last?.minute === minute) [before, now] = [last.before, last.now + 1];
    else if (last?.minute === minute - 1) before = last.now;
    this.counts.set(key, { minute, now, before });
    const used = Math.ceil(now + before * (1 - passed));
    return { remaining: LIMIT - used, seconds: Math.ceil(60 * (1 - passed)) };
  }
}

async function main(databaseUrl: string, folder: string, engine: string): Promise<void> {
  const pool = new Pool({ connectionString: databaseUrl, max: 16 });
  const token = randomBytes(32).toString('hex');
  await pool.query(TABLES);
  await pool.query(`INSERT INTO sessions VALUES ($1, 'usr_1', now() + interval '1 day')`, [digestOf(token)]);
  const { combine, timestamp, json } = winston.format;
  const file = { filename: join(folder, 'plain.log'), maxsize: 20_000_000, maxFiles: 5 };
  const log = winston.createLogger({
    format: combine(timestamp(), json()),
    transports: [new winston.transports.File(file)],
  });
  const limiter = new SlidingWindow();

  const headers: RequestHandler = (_request, response, next) => {
    response.set('X-Request-Id', `req_${randomUUID()}`);
    response.set('X-Content-Type-Options', 'nosniff');
    response.set('Referrer-Policy', 'no-referrer');
    response.set('Cache-Control', 'no-store');
    next();
  };
  const accessLog: RequestHandler = ({ method, path }, response, next) => {
    const begun = Date.now();
    response.once('close', () => {
      const { statusCode: status } = response;
      log.info('request', { request_id: response.get('X-Request-Id'), method, path, status, ms: Date.now() - begun });
    });
    next();
  };
  const authenticate: RequestHandler = async (request, response, next) => {
    const credential = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const { rows } = await pool.query({ name: 'holder', text: HOLDER, values: [digestOf(credential)] });
    response.locals.account = rows[0] ?? null;
    next();
  };
  const rateLimit: RequestHandler = (request, response, next) => {
    const { remaining, seconds } = limiter.take(response.locals.account?.id ?? request.ip);
    response.set('RateLimit-Policy', `"default";q=${LIMIT};w=60`);
    response.set('RateLimit', `"default";r=${remaining};t=${seconds}`);
    response.set('x-ratelimit-limit-requests', String(LIMIT));
    response.set('x-ratelimit-remaining-requests', String(remaining));
    response.set('x-ratelimit-reset-requests', `${seconds}s`);
    if (remaining >= 0) next();
    else response.status(429).json({ error: { code: 'rate_limited' } });
  };

  const app = express().disable('x-powered-by').disable('etag');
  app.use(headers, accessLog, authenticate, rateLimit);
  app.get('/v1/auth/me', (_request, response) => {
    const { account } = response.locals;
    if (!account) return void response.status(401).json({ error: { code: 'unauthenticated' } });
    const { email_verified_at: verifiedAt, created_at: createdAt, ...fields } = account;
    response.json(
      Account.parse({ ...fields, email_verified: verifiedAt !== null, created_at: createdAt.getTime() / 1_000 }),
    );
  });
  const dispatcher = new Agent();
  app.post('/v1/chat/completions', express.json(), async (request, response) => {
    if (!response.locals.account) return void response.status(401).json({ error: { code: 'unauthenticated' } });
    const answer = await call(`${engine}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Question.parse(request.body)),
      dispatcher,
    });
    response.status(answer.statusCode).json(Completion.parse(await answer.body.json()));
  });
  const server = app.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.send?.({ url: `http://127.0.0.1:${port}`, token } satisfies PlainServer);
  });
}

process.once('disconnect', () => process.exit());
const [url = '', folder = '', engine = ''] = process.argv.slice(2);
void main(url, folder, engine);
