import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Service } from '../tests/support/service.js';
import { ask, completions, readyProject, register } from '../tests/support/workspace.js';
import { compare, medianOf, type Target } from './rounds.js';

/**
 * Measures what tracing costs: the calls a second of a service without it, with a tenth of the traces and with all of
 * them, round by round, in front of an engine that answers at once. `npm run bench:tracing [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const CALLERS = 32;
const LEAST_RATIO = 0.9;
const SHARES = { off: null, 'a tenth': '0.1', all: '1' } as const;

async function main(): Promise<void> {
  const engine = fork(join(__dirname, 'instant-engine.js'));
  const [port] = (await once(engine, 'message')) as [number];
  const host = `127.0.0.1:${port}`;
  let bytes = 0;
  const collector = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => response.end());
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const services: Service[] = [];
  const targets: Target[] = [];
  for (const [name, share] of Object.entries(SHARES)) {
    const traced = share && {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: share,
    };
    const service = await Service.start({ databaseUrl: null, env: { SERVICE_RUNTIME_ALLOWED_HOSTS: host, ...traced } });
    services.push(service);
    const { token, apiKey } = await register(service, 'Ada');
    const spec = { runtime: 'openai', base_url: `http://${host}/v1`, model: 'm' };
    const project = await readyProject(service, token, spec);
    const headers = { authorization: `Bearer ${apiKey}` };
    const body = JSON.stringify(ask(project, 'What is the capital of France?', { max_tokens: 64 }));
    targets.push({ name, url: service.url + completions(project), headers, body });
  }
  const { rates } = await compare(targets, ROUNDS, CALLERS);
  const ratioOf = (name: keyof typeof SHARES) => medianOf(rates[name], rates.off, (a, b) => a / b);
  console.log(`with all traces ${ratioOf('all').toFixed(2)} times the calls of none; ${bytes} bytes were exported`);
  console.log(`with a tenth ${ratioOf('a tenth').toFixed(2)} times, at least ${LEAST_RATIO} is wanted`);
  if (ratioOf('a tenth') < LEAST_RATIO) process.exitCode = 1;
  engine.disconnect();
  await Promise.all(services.map((service) => service.stop()));
  collector.closeAllConnections();
  collector.close();
}

void main();
