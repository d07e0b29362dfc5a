import { join } from 'node:path';
import { Service } from '../tests/support/service.js';
import { ask, completions, readyProject, register } from '../tests/support/workspace.js';
import { installed, Stage } from './peers.js';
import type { PlainServer } from './plain-express.js';
import { compare, difference, medianOf, ratio, type Target, told, wanted } from './rounds.js';

/**
 * Measures a chat through the service, with an engine elsewhere that answers at once: the time that the service adds,
 * the calls a second, and the processor time of a call. Compares them with those of @portkey-ai/gateway, and of a proxy
 * in plain Express, for the same engine. They take turns in each round. `npm run bench:chat-gateway [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const CALLERS = 32;
const PORTKEY = '@portkey-ai/gateway@1.15.2';

const body = (model: string) => JSON.stringify(ask(model, 'What is the capital of France?', { max_tokens: 64 }));

async function main(): Promise<void> {
  const stage = await Stage.open();
  try {
    const engine = await stage.fork<number>('instant-engine.js');
    const host = `127.0.0.1:${engine.message}`;
    const databaseUrl = await stage.database('ours');
    const service = await Service.start({ databaseUrl, env: { SERVICE_RUNTIME_ALLOWED_HOSTS: host } });
    try {
      await measure(stage, service, host);
    } finally {
      await service.stop();
    }
  } finally {
    await stage.close();
  }
}

async function measure(stage: Stage, service: Service, host: string): Promise<void> {
  const { token, apiKey } = await register(service, 'Ada');
  const spec = { runtime: 'openai', base_url: `http://${host}/v1`, model: 'm' };
  const project = await readyProject(service, token, spec);
  const { body: named } = await service.get(`/v1/projects/${project}`, token);
  const plain = await stage.fork<PlainServer>(
    'plain-express.js',
    await stage.database('plain'),
    stage.folder,
    `http://${host}`,
  );
  const ours = { pid: service.pid, headers: { authorization: `Bearer ${apiKey}` } };
  const targets: Target[] = [
    { name: 'direct', url: `http://${host}/v1/chat/completions`, headers: {}, body: body('m') },
    { name: 'ours', url: service.url + completions(project), ...ours, body: body(project) },
    { name: 'by name', url: `${service.url}/openai/v1/chat/completions`, ...ours, body: body(named.name) },
    {
      name: 'plain',
      url: `${plain.message.url}/v1/chat/completions`,
      headers: { authorization: `Bearer ${plain.message.token}` },
      body: body('m'),
      pid: plain.pid,
    },
    ...(await portkey(stage, host)),
  ];
  const { times, rates, processor } = await compare(targets, {
    rounds: ROUNDS,
    callers: CALLERS,
    postgres: stage.postgres,
  });
  const added = (name: string) => medianOf(times[name], times.direct, difference);
  wanted('time added at one caller', added('ours'), 'at most', 0.6, ' ms');
  wanted('chats by name / by the interface', medianOf(rates['by name'], rates.ours, ratio), 'at least', 0.9);
  told('processor time, plain / ours', medianOf(processor.plain, processor.ours, ratio));
  if (!rates.portkey) return;
  wanted('chats / Portkey', medianOf(rates.ours, rates.portkey, ratio), 'at least', 1.2);
  told('chats by name / Portkey', medianOf(rates['by name'], rates.portkey, ratio));
  told('processor time, Portkey / ours', medianOf(processor.portkey, processor.ours, ratio));
  told('time added by Portkey', added('portkey'), ' ms');
  told('time added, Portkey / ours', added('portkey') / added('ours'));
}

async function portkey(stage: Stage, host: string): Promise<Target[]> {
  const folder = installed(PORTKEY);
  if (!folder) return [];
  const program = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const { pid, url } = await stage.spawn('/', (port) => ({
    args: [program, `--port=${port}`, '--headless'],
    env: { TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  }));
  const headers = {
    authorization: 'Bearer any',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://${host}/v1`,
  };
  return [{ name: 'portkey', url: `${url}/v1/chat/completions`, headers, body: body('m'), pid }];
}

void main();
