import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from '../tests/support/http-caller.js';
import { Service } from '../tests/support/service.js';
import {
  ask,
  completions,
  createProject,
  type Member,
  register,
  registeredModel,
  untilState,
} from '../tests/support/workspace.js';
import { Stage } from './peers.js';
import { figures, median, percentile, told, wanted } from './rounds.js';

/**
 * Measures what callers see of engines that fail, and prints whether it is what is wanted. The project `normal` has two
 * good engines. The others have a first engine that refuses connections, that answers probes but fails calls, or that is
 * silent. All take turns. Then it kills both engines of a project. `npm run bench:failover [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 12);
const CALLERS = 4;
const CALLS = 100;
/** The time that a good engine takes. */
const ENGINE_MS = 40;
/** A breaker that has opened lets one call through after a pause. The calls must be many, so that p95 leaves it out. */
const WARM_UP = 60;

type Mode = 'good' | 'failing' | 'silent';

interface Engine {
  readonly url: string;
  readonly host: string;
  set(mode: Mode): void;
  kill(): void;
}

const engines: ChildProcess[] = [];

async function startEngine(): Promise<Engine> {
  const child = fork(join(__dirname, 'failing-engine.js'), [String(ENGINE_MS)]);
  engines.push(child);
  const [port] = await once(child, 'message');
  const host = `127.0.0.1:${port}`;
  return { url: `http://${host}/v1`, host, set: (mode) => child.send(mode), kill: () => child.kill('SIGKILL') };
}

class Bench {
  constructor(
    private readonly service: Service,
    private readonly admin: Member,
  ) {}

  /** Creates a project whose runtime tries the engines in this order. */
  async project(...tried: readonly Engine[]): Promise<string> {
    const { service, admin } = this;
    const id = await createProject(service, admin.token);
    const models: string[] = [];
    for (const { url } of tried)
      models.push(await registeredModel(service, admin.token, id, { runtime: 'openai', base_url: url, model: 'm' }));
    const [model_id, ...fallbacks] = models;
    const runtime = `/v1/projects/${id}/runtime`;
    await service.put(runtime, admin.token, { model_id, fallbacks });
    await service.post(`${runtime}/start`, admin.token);
    await untilState(service, admin.token, id, 'ready');
    return id;
  }

  chat(project: string): Promise<Answer> {
    return this.service.post(completions(project), this.admin.apiKey, ask(project, 'Hi', { max_tokens: 16 }));
  }

  /** Makes calls by many callers. Returns the durations of those with the status. */
  async times(project: string, { calls = CALLS, status = 200, callers = CALLERS } = {}): Promise<number[]> {
    const times: number[] = [];
    let left = calls;
    const caller = async () => {
      while (left-- > 0) {
        const begun = performance.now();
        const answer = await this.chat(project);
        if (answer.status === status) times.push(performance.now() - begun);
        else if (status === 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return times;
  }
}

async function main(): Promise<void> {
  const stage = await Stage.open();
  const all = await Promise.all(Array.from({ length: 6 }, startEngine));
  const [good, other, lost, failing, silent, last] = all as [Engine, Engine, Engine, Engine, Engine, Engine];
  const env = {
    SERVICE_RUNTIME_ALLOWED_HOSTS: all.map(({ host }) => host).join(','),
    SERVICE_INFERENCE_TIMEOUT_S: '2',
    SERVICE_RATE_LIMIT_PER_MIN: '1000000',
  };
  const service = await Service.start({ databaseUrl: await stage.database('failover'), env, alone: 'it has breakers' });
  try {
    const bench = new Bench(service, await register(service, 'Ada'));
    const projects = {
      normal: await bench.project(other, good),
      'connection refused': await bench.project(lost, good),
      'calls fail': await bench.project(failing, good),
      silent: await bench.project(silent, good),
    };
    const allDead = await bench.project(lost, failing, last);
    lost.kill();
    failing.set('failing');
    silent.set('silent');
    last.set('failing');
    await compareTimes(bench, projects);
    await refusals(bench, allDead);
  } finally {
    await service.stop();
    await stage.close();
    for (const engine of engines) engine.kill('SIGKILL');
  }
}

/** Compares the times of calls with those of the project `normal`, in rounds, after the breakers have opened. */
async function compareTimes(bench: Bench, projects: Readonly<Record<string, string>>): Promise<void> {
  const ratios = new Map<string, number[]>();
  const seen = new Map<string, number[]>();
  for (const project of Object.values(projects)) await bench.times(project, { calls: WARM_UP });
  for (let round = 0; round < ROUNDS; round++) {
    const p95: Record<string, number> = {};
    for (const [name, project] of Object.entries(projects)) {
      const times = await bench.times(project);
      p95[name] = percentile(times, 0.95);
      seen.set(name, [...(seen.get(name) ?? []), ...times]);
    }
    for (const name of Object.keys(projects))
      ratios.set(name, [...(ratios.get(name) ?? []), (p95[name] as number) / (p95.normal as number)]);
  }
  for (const [name, times] of seen) console.log(`${name.padEnd(20)} ${figures(times)}`);
  for (const [name, all] of ratios)
    if (name !== 'normal') wanted(`p95 with one of two engines dead (${name}) / normal`, median(all), 'at most', 1.2);
}

/** Measures how long calls wait for their refusal if all engines of the project are dead. */
async function refusals(bench: Bench, project: string): Promise<void> {
  await bench.times(project, { calls: WARM_UP, status: 503 });
  await pause(50);
  const times = await bench.times(project, { calls: CALLS, status: 503, callers: 1 });
  console.log(`${'all engines dead'.padEnd(20)} ${figures(times)}`);
  told('refused of all calls', times.length / CALLS);
  wanted('p95 of a refusal with all engines dead', percentile(times, 0.95), 'at most', 50, ' ms');
}

void main();
