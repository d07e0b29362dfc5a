import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { ask, completions, readyProject, register } from '../tests/support/workspace.js';
import type { Measured, Round } from './callers.js';

/**
 * Measures the service's own share of a chat call to an engine that answers at once: the time that it adds to a call, and
 * the calls a second that it passes on, beside @portkey-ai/gateway in front of the same engine, round by round. `npm run bench:chat-gateway [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const ROUND_MS = 2_000;
const CALLERS = 32;
const MOST_MS = 1.8;
const LEAST_RATIO = 2;
const RIVAL = '@portkey-ai/gateway@1.15.2';

interface Target {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const body = (model: string) => JSON.stringify(ask(model, 'What is the capital of France?', { max_tokens: 64 }));

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const engine = fork(join(__dirname, 'instant-engine.js'));
  const callers = fork(join(__dirname, 'callers.js'));
  const [port] = (await once(engine, 'message')) as [number];
  const host = `127.0.0.1:${port}`;
  const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: host };
  const service = await Service.start({ databaseUrl: null, env });
  const { token, apiKey } = await register(service, 'Ada');
  const spec = { runtime: 'openai', base_url: `http://${host}/v1`, model: 'm' };
  const project = await readyProject(service, token, spec);
  const rival = await startRival(folder);

  const direct = { name: 'direct', url: `http://${host}/v1/chat/completions`, headers: {}, body: body('m') };
  const authorization = `Bearer ${apiKey}`;
  const ours = {
    name: 'ours',
    url: service.url + completions(project),
    headers: { authorization },
    body: body(project),
  };
  const theirs = rival && {
    name: 'portkey',
    url: `${rival.url}/v1/chat/completions`,
    headers: {
      authorization: 'Bearer any',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://${host}/v1`,
    },
    body: body('m'),
  };
  const targets: Target[] = [direct, ours, ...(theirs ? [theirs] : [])];
  const times: Record<string, number[]> = {};
  const rates: Record<string, number[]> = {};
  for (let round = 0; round <= ROUNDS; round++) {
    for (const target of targets) {
      const alone = await measured(callers, target, 1);
      const together = await measured(callers, target, CALLERS);
      if (round === 0) continue; // warms up
      times[target.name] = [...(times[target.name] ?? []), median(alone.times)];
      rates[target.name] = [...(rates[target.name] ?? []), together.perSecond];
    }
  }
  for (const { name } of targets) {
    const [time, rate] = [median(times[name] ?? []), median(rates[name] ?? [])];
    console.log(`${name.padEnd(8)} p50 ${time.toFixed(2)} ms alone, ${rate.toFixed(0)}/s with ${CALLERS} callers`);
  }
  const share = median(pairs(times.ours, times.direct).map(([a, b]) => a - b));
  console.log(`the service's share is ${share.toFixed(2)} ms, at most ${MOST_MS} is wanted`);
  const ratio = median(pairs(rates.ours, rates.portkey).map(([a, b]) => a / b));
  if (theirs) console.log(`it passes on ${ratio.toFixed(2)} times as many calls, at least ${LEAST_RATIO} is wanted`);
  if (share > MOST_MS || ratio < LEAST_RATIO) process.exitCode = 1;
  rival?.process.kill();
  engine.disconnect();
  callers.disconnect();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}

async function measured(callers: ChildProcess, { url, headers, body }: Target, atOnce: number): Promise<Measured> {
  const { port, pathname } = new URL(url);
  const sent = {
    Host: `127.0.0.1:${port}`,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  };
  const head = [`POST ${pathname} HTTP/1.1`, ...Object.entries(sent).map(([name, value]) => `${name}: ${value}`)];
  const request = `${head.join('\r\n')}\r\n\r\n${body}`;
  callers.send({ port: Number(port), request, callers: atOnce, ms: ROUND_MS } satisfies Round);
  const [result] = (await once(callers, 'message')) as [Measured];
  if (result.failure !== null) throw new Error(`${url}: ${result.failure}`);
  return result;
}

/** Returns null, and says so, if it cannot be installed. */
async function startRival(folder: string): Promise<{ process: ChildProcess; url: string } | null> {
  try {
    const quietly = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
    execFileSync('npm', ['install', '--prefix', folder, ...quietly, RIVAL], { stdio: 'ignore' });
  } catch {
    console.log(`${RIVAL} could not be installed: no comparison`);
    return null;
  }
  const port = await freePort();
  const program = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const process_ = spawn(process.execPath, [program, `--port=${port}`, '--headless'], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(url).catch(() => null))) await pause(100);
  return { process: process_, url };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const pairs = (a: readonly number[] = [], b: readonly number[] = []): [number, number][] =>
  a.slice(0, b.length).map((one, round) => [one, b[round] as number]);

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

void main();
