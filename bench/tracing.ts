import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Service } from '../tests/support/service.js';
import { ask, completions, readyProject, register } from '../tests/support/workspace.js';
import { measured, median, medianOf, type Target } from './rounds.js';

/**
 * Measures the cost of tracing: the calls a second, and the processor time of a call, of three services that trace no
 * calls, a tenth of them, or all. Their engine answers at once. The services take turns of a second, each round in
 * another order, so other work on the machine slows all of them alike. `npm run bench:tracing [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 21);
/** If only a tenth of the calls are traced, the code for spans runs rarely, so Node.js optimizes it late. */
const WARM_UP_ROUNDS = 10;
const TURN_MS = 1_000;
const CALLERS = 32;
const LEAST_RATIO = 0.9;
const SHARES = { off: null, 'a tenth': '0.1', all: '1' } as const;
/** Within this time the SDK exports the last spans. */
const EXPORT_MS = 6_000;

interface Traced {
  readonly name: string;
  readonly service: Service;
  readonly target: Target;
  /** The number of calls in each turn. */
  readonly calls: number[];
}

async function main(): Promise<void> {
  const [engine, collector] = [await started('instant-engine.js'), await started('draining-collector.js')];
  const traced: Traced[] = [];
  for (const [name, share] of Object.entries(SHARES)) traced.push(await startTraced(name, share, engine, collector));
  const callers = fork(join(__dirname, 'callers.js'));
  const takeTurns = async (rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      const first = round % traced.length;
      for (const { target, calls } of [...traced.slice(first), ...traced.slice(0, first)])
        calls.push((await measured(callers, [target], CALLERS, TURN_MS)).times.flat().length);
    }
  };
  await takeTurns(WARM_UP_ROUNDS);
  const before = traced.map(({ service, calls }) => {
    calls.length = 0;
    return processorMs(service.pid);
  });
  await takeTurns(ROUNDS);
  await delay(EXPORT_MS);
  const costs = traced.map(({ service, calls }, n) => {
    const total = calls.reduce((sum, count) => sum + count, 0);
    return (processorMs(service.pid) - (before[n] as number)) / total;
  });
  const [off] = traced as [Traced];
  for (const [n, { name, calls }] of traced.entries()) {
    const [cost, ratio] = [costs[n] as number, medianOf(calls, off.calls, (a, b) => a / b)];
    const times = `${ratio.toFixed(2)} times the calls, ${(cost / (costs[0] as number)).toFixed(2)} times the processor time`;
    console.log(
      `${name.padEnd(8)} ${median(calls)}/s with ${CALLERS} callers, ${cost.toFixed(2)} ms of a processor a call: ${times}`,
    );
    if (name === 'a tenth' && ratio < LEAST_RATIO) process.exitCode = 1;
  }
  console.log(`with a tenth, at least ${LEAST_RATIO} times the calls are wanted`);
  console.log(`the collector took, in addition, ${processorMs(collector.process.pid as number)} ms of a processor`);
  for (const process of [callers, engine.process, collector.process]) process.disconnect();
  await Promise.all(traced.map(({ service }) => service.stop()));
}

interface Helper {
  readonly process: ChildProcess;
  readonly host: string;
}

async function started(program: string): Promise<Helper> {
  const process = fork(join(__dirname, program));
  const [port] = (await once(process, 'message')) as [number];
  return { process, host: `127.0.0.1:${port}` };
}

async function startTraced(name: string, share: string | null, engine: Helper, collector: Helper): Promise<Traced> {
  const variables = share && {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://${collector.host}`,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: share,
  };
  const env = { SERVICE_RUNTIME_ALLOWED_HOSTS: engine.host, ...variables };
  const service = await Service.start({ databaseUrl: null, env });
  const { token, apiKey } = await register(service, 'Ada');
  const spec = { runtime: 'openai', base_url: `http://${engine.host}/v1`, model: 'm' };
  const project = await readyProject(service, token, spec);
  const headers = { authorization: `Bearer ${apiKey}` };
  const body = JSON.stringify(ask(project, 'What is the capital of France?', { max_tokens: 64 }));
  return { name, service, target: { name, url: service.url + completions(project), headers, body }, calls: [] };
}

const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Returns the processor time of a process and its threads, without its children. */
function processorMs(pid: number): number {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = after.split(' ').slice(11, 13).map(Number) as [number, number];
  return ((user + system) * 1_000) / TICKS;
}

void main();
