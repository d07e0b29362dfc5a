import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { FLOAT, onnxFile } from '../tests/support/onnx/onnx-graph.js';
import { descendants } from '../tests/support/processes.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { ask, completions, password, readyProject, register } from '../tests/support/workspace.js';

/**
 * Sends many requests of all kinds while deployments are created and deleted. Fails if the memory or the file
 * descriptors of the service, or the memory of its chat worker, grow after the warm-up. Fails also if the service has
 * more than two child processes, or at the end not exactly one.
 * `npm run bench:soak [requests] [deployments]`
 */
const REQUESTS = Number(process.argv[2] ?? 200_000);
const CYCLES = Number(process.argv[3] ?? 100);
const CALLERS = 16;
const SAMPLES = 60;
/** The share of the samples that belongs to the warm-up. */
const WARM = 0.4;
/**
 * After the warm-up, the minimum of the last third of the samples must be less than this many times the minimum of the
 * first third. One sample says little, because garbage collection changes the memory all the time.
 */
const MOST_GROWTH = 1.15;

interface Sample {
  readonly requests: number;
  readonly cycles: number;
  readonly rssMb: number;
  readonly descriptors: number;
  readonly children: number;
  /** The chat worker's memory. */
  readonly runtimeMb: number;
}

type Sort = [name: string, call: () => Promise<{ status: number }>];

const rssMb = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

const doubling = onnxFile({
  inputs: [['x', FLOAT, ['n', 2]]],
  outputs: [['y', FLOAT, ['n', 2]]],
  nodes: [{ op: 'Add', inputs: ['x', 'x'], outputs: ['y'] }],
});

async function main(): Promise<void> {
  const folder = await temporaryFolder();
  const dataDir = join(folder, 'data');
  await mkdir(join(dataDir, 'models'), { recursive: true });
  await writeFile(join(dataDir, 'models/doubling.onnx'), doubling);
  const server = await startEmbeddedPostgres({ folder: join(folder, 'postgres') });
  const service = await Service.start({ alone: 'its memory', databaseUrl: server.url, dataDir });
  const { token, apiKey } = await register(service, 'Ada');
  const samples: Sample[] = [];
  const statuses = new Map<string, number>();
  const project = await readyProject(service, token);
  const [runtime = 0] = descendants(service.pid);
  const count = (call: string, status: number) => {
    const key = `${call} ${status}`;
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
  };

  const sorts: Sort[] = [
    ['me', () => service.get('/v1/auth/me', token)],
    ['projects', () => service.get('/v1/projects', token)],
    ['project', () => service.get(`/v1/projects/${project}`, token)],
    ['deployments', () => service.get('/v1/deployments', apiKey)],
    ['stranger', () => service.get('/v1/auth/me', 'tns_nobody')],
    ['nowhere', () => service.get('/v1/nowhere', token)],
    ['invalid', () => service.post(completions(project), apiKey, { model: project })],
    [
      'rule',
      () =>
        service.post('/v1/alerts/rules/preview', token, { name: 'x', rule_type: 'consecutive_failures', threshold: 2 }),
    ],
    ['jobs', () => service.get('/v1/jobs?limit=10', apiKey)],
  ];
  const question = ask(project, 'What is 7 + 5?', { max_tokens: 8 });
  const rareCalls: [...Sort, every: number][] = [
    ['chat', () => service.post(completions(project), apiKey, question), 200],
    ['login', () => service.post('/v1/auth/login', undefined, { email: 'ada@example.com', password }), 1_000],
  ];

  let requests = 0;
  let cycles = 0;
  const begun = performance.now();
  const caller = async () => {
    while (requests < REQUESTS) {
      const n = requests++;
      const rare = rareCalls.find(([, , every]) => n % every === every - 1);
      const [name, call] = rare ?? (sorts[n % sorts.length] as Sort);
      count(name, (await call()).status);
    }
  };
  const cycle = async () => {
    for (; cycles < CYCLES; cycles++) {
      while (requests < (cycles * REQUESTS) / CYCLES) await new Promise((resolve) => setTimeout(resolve, 20));
      const { status, body } = await service.post('/v1/deployments', token, { name: 'x', model_path: 'doubling.onnx' });
      count('deploy', status);
      count(
        'predict',
        (await service.post(`/v1/deployments/${body.id}/predict`, token, { inputs: { x: [[1, 2]] } })).status,
      );
      count('delete', (await service.delete(`/v1/deployments/${body.id}`, token)).status);
    }
  };
  const sampler = setInterval(() => {
    if (requests < (samples.length * REQUESTS) / SAMPLES) return;
    samples.push({
      requests,
      cycles,
      rssMb: rssMb(service.pid),
      descriptors: readdirSync(`/proc/${service.pid}/fd`).length,
      children: descendants(service.pid).length,
      runtimeMb: rssMb(runtime),
    });
  }, 100);
  await Promise.all([...Array.from({ length: CALLERS }, caller), cycle()]);
  clearInterval(sampler);
  await new Promise((resolve) => setTimeout(resolve, 8_000)); // idle connections are closed by then
  const rest = {
    descriptors: readdirSync(`/proc/${service.pid}/fd`).length,
    children: descendants(service.pid).length,
  };

  const seconds = (performance.now() - begun) / 1_000;
  console.log(`${requests} requests and ${cycles} deployments in ${seconds.toFixed(0)} s`);
  console.table(samples.map((one) => ({ ...one, rssMb: Math.round(one.rssMb), runtimeMb: Math.round(one.runtimeMb) })));
  console.log(
    [...statuses]
      .sort()
      .map(([call, times]) => `${call}: ${times}`)
      .join('   '),
  );
  console.log(`at rest: ${rest.descriptors} descriptors, ${rest.children} children`);
  if (!judged(samples) || rest.children !== 1) process.exitCode = 1;
  await service.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Prints the growth. Returns whether it is permitted. */
function judged(samples: readonly Sample[]): boolean {
  const warm = samples.slice(Math.floor(samples.length * WARM));
  const part = Math.ceil(warm.length / 3);
  const [early, late] = [warm.slice(0, part), warm.slice(-part)];
  const growths = (['rssMb', 'descriptors', 'runtimeMb'] as const).map((figure) => {
    const [before, after] = [early, late].map((part) => Math.min(...part.map((one) => one[figure]))) as [
      number,
      number,
    ];
    console.log(`${figure}: minimum ${before.toFixed(0)} after the warm-up, ${after.toFixed(0)} at the end`);
    return after / before;
  });
  const most = Math.max(...samples.map(({ children }) => children));
  console.log(`children: maximum ${most}`);
  return growths.every((growth) => growth < MOST_GROWTH) && most <= 2;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
