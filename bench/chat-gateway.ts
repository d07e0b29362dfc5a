import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { ask, completions, readyProject, register } from '../tests/support/workspace.js';
import { compare, freePort, installed, medianOf, type Target } from './rounds.js';

/**
 * Measures the time that the service adds to a chat call, and its calls a second, with an engine that answers at once.
 * Compares both with @portkey-ai/gateway, which calls the same engine. They take turns in each round.
 * `npm run bench:chat-gateway [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const CALLERS = 32;
const MOST_MS = 1.8;
const LEAST_RATIO = 2;
const RIVAL = '@portkey-ai/gateway@1.15.2';

const body = (model: string) => JSON.stringify(ask(model, 'What is the capital of France?', { max_tokens: 64 }));

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const engine = fork(join(__dirname, 'instant-engine.js'));
  const [port] = (await once(engine, 'message')) as [number];
  const host = `127.0.0.1:${port}`;
  const service = await Service.start({ databaseUrl: null, env: { SERVICE_RUNTIME_ALLOWED_HOSTS: host } });
  const { token, apiKey } = await register(service, 'Ada');
  const spec = { runtime: 'openai', base_url: `http://${host}/v1`, model: 'm' };
  const project = await readyProject(service, token, spec);
  const rival = await startRival(folder);

  const targets: Target[] = [
    { name: 'direct', url: `http://${host}/v1/chat/completions`, headers: {}, body: body('m') },
    {
      name: 'ours',
      url: service.url + completions(project),
      headers: { authorization: `Bearer ${apiKey}` },
      body: body(project),
    },
  ];
  if (rival) {
    const headers = {
      authorization: 'Bearer any',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://${host}/v1`,
    };
    targets.push({ name: 'portkey', url: `${rival.url}/v1/chat/completions`, headers, body: body('m') });
  }
  const { times, rates } = await compare(targets, ROUNDS, CALLERS);
  const share = medianOf(times.ours, times.direct, (a, b) => a - b);
  console.log(`the service's share is ${share.toFixed(2)} ms, at most ${MOST_MS} is wanted`);
  const ratio = medianOf(rates.ours, rates.portkey, (a, b) => a / b);
  if (rival) console.log(`it passes on ${ratio.toFixed(2)} times as many calls, at least ${LEAST_RATIO} is wanted`);
  if (share > MOST_MS || ratio < LEAST_RATIO) process.exitCode = 1;
  rival?.process.kill();
  engine.disconnect();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}

async function startRival(folder: string): Promise<{ process: ChildProcess; url: string } | null> {
  if (!installed(folder, RIVAL)) return null;
  const port = await freePort();
  const program = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const child = spawn(process.execPath, [program, `--port=${port}`, '--headless'], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(url).catch(() => null))) await delay(100);
  return { process: child, url };
}

void main();
