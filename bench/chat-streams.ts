import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../src/infrastructure/embedded-postgres/embedded-postgres.js';
import { Service, temporaryFolder } from '../tests/support/service.js';
import { readyProject, register } from '../tests/support/workspace.js';
import {
  type Asked,
  type Comparison,
  comparison,
  contender,
  conversation,
  firstToken,
  installRival,
  inTurns,
  judge,
  median,
  rate,
  requireSameTokens,
} from './chat-engine/comparison.js';
import type { Outcome, Report, Task } from './chat-engine/contenders.js';
import { makeModel } from './chat-engine/model.js';
import { type Endpoint, type Question, streamed, whole } from './chat-streams/streams.js';

/**
 * Measures streams of `/openai/v1/chat/completions` through the whole service. Compares concurrent streams with single
 * ones, with whole answers, and with the TextStreamer of @huggingface/transformers in another process. All use the same
 * model with one thread, and take turns in each round. `npm run bench:chat-streams [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const AT_ONCE = 16;

async function main(): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  const folder = await temporaryFolder();
  const children: ChildProcess[] = [];
  const server = await startEmbeddedPostgres({ folder: join(folder, 'postgres') });
  makeModel(join(temporary, 'models', 'model'));
  const env = {
    SERVICE_MODELS_DIR: join(temporary, 'models'),
    SERVICE_SERVING_THREADS: '1',
    SERVICE_INFERENCE_TIMEOUT_S: '600',
  };
  const service = await Service.start({ alone: 'its speed', databaseUrl: server.url, dataDir: folder, env });
  try {
    installRival(temporary);
    const { token, apiKey } = await register(service, 'Ada');
    const model = await readyProject(service, token, { runtime: 'onnx', path: 'model' });
    const endpoint = { url: service.url, apiKey, model };
    const theirs = await contender(children, 'streaming', join(temporary, 'models', 'model'), temporary);
    const rounds: Comparison[][] = [];
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      const comparisons = await measureRound(round, endpoint, theirs);
      if (round === 0) continue;
      rounds.push(comparisons);
      for (const { name, shown } of comparisons) console.log(`round ${round}: ${name}: ${shown}`);
    }
    judge(rounds);
  } finally {
    for (const child of children) child.kill();
    await service.stop();
    await server.stop();
    rmSync(temporary, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureRound(round: number, endpoint: Endpoint, theirs: Asked): Promise<Comparison[]> {
  const streams = (task: Task) => askAll(streamed, endpoint, task);
  const answers = (task: Task) => askAll(whole, endpoint, task);
  const both = async (task: Task): Promise<[Report, Report]> => {
    const reports = await inTurns(round, [() => streams(task), () => theirs(task)]);
    requireSameTokens(...reports);
    return reports;
  };
  // The prompts of each task differ, because the prefix cache would save work for equal prompts.
  const prompts = (name: string, length: (i: number) => number, maxTokens = 64): Task => ({
    conversations: Array.from({ length: AT_ONCE }, (_, i) => conversation(`${round} ${name} ${i}`, length(i))),
    maxTokens,
  });
  const one = await both({ conversations: [conversation(`${round} one`, 60)], maxTokens: 128 });
  const short = await both({ conversations: [conversation(`${round} short`, 1)], maxTokens: 16 });
  const shorts = prompts('again', () => 1, 16);
  const alone = await oneByOne(streams, shorts);
  const together = await streams(shorts);
  requireEqual(together, alone);
  const cold = await streams(prompts('new', () => 1, 16));
  console.log(
    `round ${round}: median first token of ${AT_ONCE} new prompts at once: ${medianFirstToken(cold).toFixed(0)} ms`,
  );
  const mixed = (i: number) => 5 + ((i * 7) % AT_ONCE) * 4;
  const task = prompts('mixed', mixed);
  const many = await both(task);
  if (round === 0) requireEqual(many[0], await oneByOne(answers, task));
  const streaming = await inTurns(round, [
    () => streams(prompts('streamed', mixed)),
    () => answers(prompts('answered', mixed)),
  ]);
  return [
    comparison(
      'less',
      `first token of ${AT_ONCE} at once, and of each alone before, ms`,
      [together, alone].map(medianFirstToken),
      1 / 3,
    ),
    comparison('more', `${AT_ONCE} at once, tokens/s in streams and whole`, streaming.map(rate), 0.9),
    comparison('less', 'one stream, first token compared with transformers.js, ms', one.map(firstToken), 1),
    comparison('less', 'one short stream, first token compared with transformers.js, ms', short.map(firstToken), 1),
    comparison('more', 'one stream, tokens/s compared with transformers.js', one.map(rate), 1),
    comparison('more', `${AT_ONCE} at once, tokens/s compared with transformers.js`, many.map(rate), 2.5),
  ];
}

const medianFirstToken = ({ outcomes }: Report): number => median(outcomes.map(({ firstTokenMs }) => firstTokenMs));

async function askAll(
  ask: (endpoint: Endpoint, question: Question, begun: number) => Promise<Outcome>,
  endpoint: Endpoint,
  { conversations, maxTokens }: Task,
): Promise<Report> {
  const begun = performance.now();
  const outcomes = conversations.map((messages) => ask(endpoint, { messages, max_tokens: maxTokens }, begun));
  return { outcomes: await Promise.all(outcomes), processorMs: Number.NaN };
}

/** Asks one conversation after another. */
async function oneByOne(ask: Asked, { conversations, maxTokens }: Task): Promise<Report> {
  const outcomes: Outcome[] = [];
  for (const one of conversations) outcomes.push(...(await ask({ conversations: [one], maxTokens })).outcomes);
  return { outcomes, processorMs: Number.NaN };
}

/** Throws if an answer together with others differs from the answer alone. */
function requireEqual(together: Report, alone: Report): void {
  for (const [i, { text }] of together.outcomes.entries())
    if (text !== alone.outcomes[i]?.text) throw new Error(`differs from the answer alone: ${text}`);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
