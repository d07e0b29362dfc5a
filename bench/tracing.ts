import { Service } from '../tests/support/service.js';
import { ask, completions, readyProject, register } from '../tests/support/workspace.js';
import { Stage } from './peers.js';
import { compare, medianOf, ratio, type Target, wanted } from './rounds.js';

/**
 * Measures the cost of tracing: the calls a second, and the processor time of a call, of three services that trace no
 * calls, a tenth of them, or all. Their engine answers at once. `npm run bench:tracing [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 11);
const CALLERS = 32;
const SHARES = { off: null, 'a tenth': '0.1', all: '1' } as const;

async function main(): Promise<void> {
  const stage = await Stage.open();
  const services: Service[] = [];
  try {
    const engine = await stage.fork<number>('instant-engine.js');
    const collector = await stage.fork<number>('draining-collector.js');
    const targets: Target[] = [];
    for (const [name, share] of Object.entries(SHARES)) {
      const variables = share && {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.message}`,
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: share,
      };
      const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: `127.0.0.1:${engine.message}`, ...variables };
      const databaseUrl = await stage.database(`service_${services.length}`);
      const service = await Service.start({ databaseUrl, env });
      services.push(service);
      targets.push({ name, pid: service.pid, ...(await chat(service, engine.message)) });
    }
    const { rates, processor } = await compare(targets, { rounds: ROUNDS, callers: CALLERS });
    for (const name of ['a tenth', 'all'])
      console.log(`${name}: ${medianOf(processor[name], processor.off, ratio).toFixed(2)} times the processor time`);
    wanted('calls with a tenth / without traces', medianOf(rates['a tenth'], rates.off, ratio), 'at least', 0.9);
  } finally {
    for (const service of services) await service.stop();
    await stage.close();
  }
}

async function chat(service: Service, port: number): Promise<Pick<Target, 'url' | 'headers' | 'body'>> {
  const { token, apiKey } = await register(service, 'Ada');
  const spec = { runtime: 'openai', base_url: `http://127.0.0.1:${port}/v1`, model: 'm' };
  const project = await readyProject(service, token, spec);
  const body = JSON.stringify(ask(project, 'What is the capital of France?', { max_tokens: 64 }));
  return { url: service.url + completions(project), headers: { authorization: `Bearer ${apiKey}` }, body };
}

void main();
