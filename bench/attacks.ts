import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Service } from '../tests/support/service.js';
import { ask, completions, createProject, readyProject, register } from '../tests/support/workspace.js';
import { percentile, wanted } from './rounds.js';

/**
 * Attacks the memory of a service within the rate limit, also by the answers of an engine. Prints the peak of its resident memory, the time of another
 * caller's answers meanwhile, and the answers to the attackers. `npm run bench:attacks [part of a name]`
 */
const MEMORY_LIMIT_MB = 700;
const P99_LIMIT_MS = 500;
const MB = 1024 * 1024;

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Attack {
  readonly url: string;
  readonly token: string;
  readonly call: Call;
  readonly calls: number;
  /** The pause before the caller reads the answer. */
  readonly pauseMs: number;
}

type Named = readonly [name: string, call: Call, calls: number, pauseMs: number];

const post = (path: string, body: string, headers: Call['headers'] = {}): Call => ({
  method: 'POST',
  path,
  body,
  headers,
});

async function main(): Promise<void> {
  const engine = fork(join(__dirname, 'hostile-engine.js'));
  const [port] = await once(engine, 'message');
  const env = { SERVICE_RATE_LIMIT_PER_MIN: '1000', SERVICE_RUNTIME_ALLOWED_HOSTS: `127.0.0.1:${port}` };
  const service = await Service.start({ databaseUrl: null, env });
  try {
    const admin = await register(service, 'Ada');
    const bystander = await register(service, 'Bea');
    const project = await readyProject(service, admin.token);
    const other = await createProject(service, admin.token);
    const datasets = `/v1/projects/${other}/datasets`;
    const records = Array.from({ length: 480 }, (_, n) => ({ input: `${n} ${'x'.repeat(10_000)}`, expected: 'y' }));
    const large = await service.post(datasets, admin.token, { name: 'large', records });
    if (large.status !== 201) throw new Error(`the large dataset: ${large.status} ${large.body.error}`);

    const filled = (piece: string, bytes: number) => piece.repeat(Math.floor(bytes / piece.length));
    const emptyArrays = `{"records":[${filled('[],', 5 * MB - 100)}[]]}`;
    const manyValues = `{"records":[${filled('[[],[],[],"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],', 3 * MB)}0]}`;
    const longText = JSON.stringify(ask(project, 'x'.repeat(MB - 200)));
    const manyMessages = `{"model":"${project}","messages":[${filled('{"role":"user","content":""},', MB - 200)}{}]}`;
    const attacks: Named[] = [
      ...(await engineAttacks(service, admin.token, `http://127.0.0.1:${port}/v1`)),
      ...(await largeBodies(service, admin.token, `http://127.0.0.1:${port}/v1`, project)),
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
      if (!name.includes(process.argv[2] ?? '')) continue;
      const { token } = admin;
      await runAttack(service, name, bystander.token, { url: service.url, token, call, calls, pauseMs });
    }
  } finally {
    await service.stop();
    engine.disconnect();
  }
}

/** Returns the attacks by the answers of an engine. Each model of the engine has answers of its own. */
async function engineAttacks(service: Service, token: string, base_url: string): Promise<Named[]> {
  const scored = { logprobs: true, top_logprobs: 20 };
  const stream = { stream: true };
  const wanted: [string, string, object, Call['headers']?][] = [
    ['with log probabilities', 'rich', scored],
    ['with log probabilities that nobody asked for', 'rich', {}],
    ['nested without end', 'nested', {}],
    ['of many values', 'values', {}],
    ['of one long text', 'text', {}, { 'X-Conversation-Id': 'new' }],
    ['with many calls of tools', 'tools', { tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['in events of 230 KB with log probabilities', 'rich events', { ...stream, ...scored }],
    ['in one event of 8 MB', 'one line', stream],
    ['in nested events', 'nested events', stream],
    ['in events of 28 KB with long tokens', 'long tokens', { ...stream, ...scored }],
    [
      'in events of 19 KB with calls of tools',
      'odd calls',
      { ...stream, tools: [{ type: 'function', function: { name: 'f' } }] },
    ],
    ['in carriage returns', 'carriage returns', stream],
    ['in small events of 60 MB, kept in conversations', 'small events', stream, { 'X-Conversation-Id': 'new' }],
  ];
  const attacks: Named[] = [];
  for (const [about, model, more, headers] of wanted) {
    const project = await readyProject(service, token, { runtime: 'openai', base_url, model });
    const body = JSON.stringify(ask(project, 'Hi', { max_tokens: 4_096, ...more }));
    attacks.push([`16 answers of an engine, ${about}`, post('/openai/v1/chat/completions', body, headers), 16, 0]);
  }
  const project = await readyProject(service, token, { runtime: 'openai', base_url, model: 'vectors' });
  const body = JSON.stringify({ model: project, input: Array(256).fill('x') });
  attacks.push(['16 lists of embeddings', post('/openai/v1/embeddings', body), 16, 0]);
  return attacks;
}

/** Returns attacks by bodies just below the limit of a model request, for a model of our own and for an engine. */
async function largeBodies(service: Service, token: string, base_url: string, own: string): Promise<Named[]> {
  const elsewhere = await readyProject(service, token, { runtime: 'openai', base_url, model: 'text' });
  const many = (piece: string) =>
    Array(Math.floor((31 * MB) / (piece.length + 1)))
      .fill(piece)
      .join(',');
  const hi = '{"role":"user","content":"Hi"}';
  const tool = `{"type":"function","function":{"name":"f","description":"${'x'.repeat(1_000)}"}}`;
  const place = '/openai/v1/chat/completions';
  const kinds: [string, string, string][] = [
    ['in one message', place, `"messages":[{"role":"user","content":"${'x '.repeat((31 * MB) / 2)}"}]`],
    ['in many messages', place, `"messages":[${many(hi)}]`],
    ['of tools', place, `"messages":[${hi}],"tools":[${many(tool)}]`],
    [
      'of one schema',
      place,
      `"messages":[${hi}],"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"enum":[${many('"xxxxxxxxxxxxxxxxxxx"')}]}}}`,
    ],
    ['of items of Responses', '/openai/v1/responses', `"store":false,"input":[${many(hi)}]`],
    [
      'of blocks of Messages',
      '/openai/v1/messages',
      `"max_tokens":16,"messages":[{"role":"user","content":[${many('{"type":"text","text":"Hi"}')}]}]`,
    ],
  ];
  return [own, elsewhere].flatMap((model) =>
    kinds.map(([kind, path, rest]): Named => {
      const to = model === own ? 'our model' : 'an engine';
      return [`16 bodies of 31 MB ${kind}, to ${to}`, post(path, `{"model":"${model}",${rest}}`), 16, 0];
    }),
  );
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
    for (const path of ['/health/live', '/v1/auth/me']) {
      const called = performance.now();
      const { status } = await service.get(path, bystander);
      times.push(performance.now() - called);
      if (status !== 200) failure = `, the bystander was answered ${status}`;
    }
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
function answerTo(
  url: string,
  token: string,
  { method, path, body, headers: more }: Call,
  pauseMs: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': body.length };
    const headers = { Authorization: `Bearer ${token}`, ...length, ...more };
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
