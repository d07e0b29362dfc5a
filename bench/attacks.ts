import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Service } from '../tests/support/service.js';
import { ask, completions, createProject, readyProject, register } from '../tests/support/workspace.js';
import { percentile, wanted } from './rounds.js';

/**
 * Attacks the memory of a service within the rate limit. Prints the peak of its resident memory, the time of another
 * caller's answers meanwhile, and the answers to the attackers. `npm run bench:attacks`
 */
const MEMORY_LIMIT_MB = 700;
const P99_LIMIT_MS = 500;
const MB = 1024 * 1024;

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
}

interface Attack {
  readonly url: string;
  readonly token: string;
  readonly call: Call;
  readonly calls: number;
  /** The pause before the caller reads the answer. */
  readonly pauseMs: number;
}

async function main(): Promise<void> {
  const service = await Service.start({ databaseUrl: null, env: { SERVICE_RATE_LIMIT_PER_MIN: '1000' } });
  try {
    const admin = await register(service, 'Ada');
    const bystander = await register(service, 'Bea');
    const project = await readyProject(service, admin.token);
    const other = await createProject(service, admin.token);
    const datasets = `/v1/projects/${other}/datasets`;
    const records = Array.from({ length: 480 }, (_, n) => ({ input: `${n} ${'x'.repeat(10_000)}`, expected: 'y' }));
    const large = await service.post(datasets, admin.token, { name: 'large', records });
    if (large.status !== 201) throw new Error(`the large dataset: ${large.status} ${large.body.error}`);

    const post = (path: string, body: string): Call => ({ method: 'POST', path, body });
    const filled = (piece: string, bytes: number) => piece.repeat(Math.floor(bytes / piece.length));
    const emptyArrays = `{"records":[${filled('[],', 5 * MB - 100)}[]]}`;
    const manyValues = `{"records":[${filled('[[],[],[],"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],', 3 * MB)}0]}`;
    const longText = JSON.stringify(ask(project, 'x'.repeat(MB - 200)));
    const manyMessages = `{"model":"${project}","messages":[${filled('{"role":"user","content":""},', MB - 200)}{}]}`;
    const attacks: [string, Call, number, number][] = [
      ['70 imports of 5 MB of empty arrays', post(datasets, emptyArrays), 70, 0],
      ['70 imports of 3 MB just below the limit of values', post(datasets, manyValues), 70, 0],
      ['300 chats of 1 MB in one message', post(completions(project), longText), 300, 0],
      ['300 chats of 1 MB in many messages', post(completions(project), manyMessages), 300, 0],
      ['60 reads of a dataset of 5 MB', { method: 'GET', path: `${datasets}/${large.body.id}`, body: null }, 60, 0],
      [
        '60 slow reads of the same dataset',
        { method: 'GET', path: `${datasets}/${large.body.id}`, body: null },
        60,
        3_000,
      ],
    ];
    for (const [name, call, calls, pauseMs] of attacks) {
      const { token } = admin;
      await runAttack(service, name, bystander.token, { url: service.url, token, call, calls, pauseMs });
    }
  } finally {
    await service.stop();
  }
}

/** Runs an attack in another thread, so that its work does not delay the bystander's calls. */
async function runAttack(service: Service, name: string, bystander: string, attack: Attack): Promise<void> {
  const worker = new Worker(__filename, { workerData: attack });
  let answers: Record<string, number> | null = null;
  worker.on('message', (message) => {
    answers = message;
  });
  const times: number[] = [];
  let failure = '';
  while (answers === null) {
    const called = performance.now();
    const { status } = await service.get('/v1/auth/me', bystander);
    times.push(performance.now() - called);
    if (status !== 200) failure = `, the bystander was answered ${status}`;
    await pause(75);
  }
  await worker.terminate();
  const peak = Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]) / 1024;
  const p99 = percentile(times, 0.99);
  const counts = Object.entries(answers).map(([answer, count]) => `${count} × ${answer}`);
  console.log(`${name}: ${counts.join(', ')}`);
  wanted('peak of the memory so far', peak, 'at most', MEMORY_LIMIT_MB, ' MB');
  wanted(`p99 of ${times.length} answers to the bystander${failure}`, p99, 'at most', P99_LIMIT_MS, ' ms');
}

async function attackAll({ url, token, call, calls, pauseMs }: Attack): Promise<void> {
  const answers: Record<string, number> = {};
  const one = async () => {
    const answer = await answerTo(url, token, call, pauseMs).catch((error: Error) => error.message);
    answers[answer] = (answers[answer] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: calls }, one));
  parentPort?.postMessage(answers);
}

/** Returns the status and the code of the answer. */
function answerTo(url: string, token: string, { method, path, body }: Call, pauseMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': body.length };
    const headers = { Authorization: `Bearer ${token}`, ...length };
    let answered = false;
    request(url + path, { method, headers, agent: false }, async (response) => {
      answered = true;
      let text = '';
      try {
        await pause(pauseMs);
        for await (const piece of response.setEncoding('utf8')) if (text.length < 10_000) text += piece;
        resolve(`${response.statusCode} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim());
      } catch (error) {
        reject(error as Error);
      }
    })
      .on('error', (error) => !answered && reject(error))
      .end(body);
  });
}

void (isMainThread ? main() : attackAll(workerData));
