import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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
import type { Report, Task } from './chat-engine/contenders.js';
import { makeModel } from './chat-engine/model.js';

/**
 * Compares the chat engine with @huggingface/transformers. Installs that package into a temporary folder. Both run the
 * same model in their own process with one thread, give answers of the same length, and take turns in each round.
 * `npm run bench:chat-engine [rounds] [model folder]`
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const FOLDER = process.argv[3];
const AT_ONCE = 16;

async function main(): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  const model = FOLDER ? resolve(FOLDER) : join(temporary, 'model');
  const children: ChildProcess[] = [];
  try {
    if (!FOLDER) makeModel(model);
    installRival(temporary);
    const ours = await contender(children, 'ours', model);
    const theirs = await contender(children, 'theirs', model, temporary);
    const rounds: Comparison[][] = [];
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      const comparisons = await measureRound(round, ours, theirs);
      if (round === 0) continue;
      rounds.push(comparisons);
      for (const { name, shown } of comparisons) console.log(`round ${round}: ${name}: ${shown}`);
    }
    judge(rounds);
  } finally {
    for (const child of children) child.kill();
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function measureRound(round: number, ours: Asked, theirs: Asked): Promise<Comparison[]> {
  const both = async (task: Task): Promise<[Report, Report]> => {
    const reports = await inTurns(round, [() => ours(task), () => theirs(task)]);
    requireSameTokens(...reports);
    return reports;
  };
  const one = await both({ conversations: [conversation(`${round} one`, 60)], maxTokens: 128 });
  const mixed = Array.from({ length: AT_ONCE }, (_, i) =>
    conversation(`${round} of ${i}`, 5 + ((i * 7) % AT_ONCE) * 4),
  );
  const many = await both({ conversations: mixed, maxTokens: 64 });
  const long: Task = { conversations: [conversation(`${round} long`, 480)], maxTokens: 4 };
  const [cold] = await both(long);
  const warm = await ours(long);
  requireSameTokens(cold, warm);
  return [
    comparison('more', 'one stream, tokens/s', one.map(rate), 0.95),
    comparison('less', 'one stream, processor ms', one.map(processorTime), 0.95),
    comparison('more', `${AT_ONCE} at once, tokens/s`, many.map(rate), 2),
    comparison('less', `${AT_ONCE} at once, processor ms`, many.map(processorTime), 2),
    comparison('less', `${AT_ONCE} at once, median ms`, many.map(medianTime), 2),
    comparison('less', 'long history: ms to the first token, second and first time', [warm, cold].map(firstToken), 3),
  ];
}

const processorTime = ({ processorMs }: Report): number => processorMs;
const medianTime = ({ outcomes }: Report): number => median(outcomes.map(({ tookMs }) => tookMs));

void main();
