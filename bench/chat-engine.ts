import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ChatMessage } from '../src/domain/chat/chat.js';
import type { Report, Task } from './chat-engine/contenders.js';
import { makeModel } from './chat-engine/model.js';
import { type Asked, Contenders, inTurns, TRANSFORMERS } from './contenders.js';
import { installed } from './peers.js';
import { median, wanted } from './rounds.js';

/**
 * Compares the chat engine with @huggingface/transformers. Both run the same model in their own process with one
 * thread, give answers of the same length, and take turns in each round.
 * `npm run bench:chat-engine [rounds] [model folder]`
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const FOLDER = process.argv[3];
const AT_ONCE = 16;
const words = ['blue', 'river', 'seven', 'stone', 'cloud', 'green', 'copper', 'moon', 'paper', 'lamp'];

type Ask = Asked<Task, Report>;

/** The figures of each round. The ratio is above 1 if ours is better. */
interface Comparison {
  readonly least: number;
  readonly ratios: number[];
  readonly ours: number[];
  readonly theirs: number[];
}
type Comparisons = Record<string, Comparison>;

async function main(): Promise<void> {
  const modules = installed(TRANSFORMERS);
  if (!modules) return;
  const temporary = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  const model = FOLDER ? resolve(FOLDER) : join(temporary, 'model');
  const contenders = new Contenders<Task, Report>('chat-engine/contenders.js');
  try {
    if (!FOLDER) makeModel(model);
    const ours = await contenders.start('ours', model);
    const theirs = await contenders.start('theirs', model, modules);
    const all: Comparisons = {};
    await measureRound(0, ours, theirs, {}); // warms up
    for (let round = 1; round <= ROUNDS; round++) await measureRound(round, ours, theirs, all);
    console.log(`Node ${process.version}, ${ROUNDS} rounds`);
    for (const [name, { least, ratios, ours, theirs }] of Object.entries(all)) {
      console.log(`${name}: ${median(ours).toFixed(0)} / ${median(theirs).toFixed(0)}`);
      wanted('as a ratio', median(ratios), 'at least', least);
    }
  } finally {
    contenders.end();
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function measureRound(round: number, ours: Ask, theirs: Ask, all: Comparisons): Promise<void> {
  const both = async (task: Task): Promise<[Report, Report]> => {
    const reports = await inTurns(round, [() => ours(task), () => theirs(task)]);
    requireSameTokens(...reports);
    return reports;
  };
  const compare = (better: 'more' | 'less', name: string, [one = 0, other = 0]: readonly number[], least: number) => {
    all[name] ??= { least, ratios: [], ours: [], theirs: [] };
    all[name].ratios.push(better === 'more' ? one / other : other / one);
    all[name].ours.push(one);
    all[name].theirs.push(other);
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
  compare('more', 'one caller, tokens/s', one.map(rate), 0.95);
  compare('less', 'one caller, processor ms', one.map(processorTime), 0.95);
  compare('more', `${AT_ONCE} callers, tokens/s`, many.map(rate), 2);
  compare('less', `${AT_ONCE} callers, processor ms`, many.map(processorTime), 2);
  compare('less', `${AT_ONCE} callers, median ms of an answer`, many.map(medianTime), 2);
  compare('less', 'long history, ms to the first token, second / first time', [warm, cold].map(firstToken), 3);
}

const rate = ({ outcomes }: Report): number =>
  outcomes.reduce((sum, { tokens }) => sum + tokens, 0) / (Math.max(...outcomes.map(({ tookMs }) => tookMs)) / 1_000);
const firstToken = ({ outcomes }: Report): number => outcomes[0]?.firstTokenMs ?? Number.NaN;
const processorTime = ({ processorMs }: Report): number => processorMs;
const medianTime = ({ outcomes }: Report): number => median(outcomes.map(({ tookMs }) => tookMs));

/** Returns a prompt of the name, a colon and `length` words. */
function conversation(name: string, length: number): ChatMessage[] {
  const text = Array.from({ length }, (_, i) => words[(i * i + length) % words.length]).join(' ');
  return [{ role: 'user', content: `${name}: ${text}` }];
}

/** Throws if the numbers of tokens differ, because then the work differs. Prints how many texts differ. */
function requireSameTokens({ outcomes }: Report, other: Report): void {
  const differing = outcomes.filter(({ text, tokens }, i) => {
    const theirs = other.outcomes[i];
    if (tokens !== theirs?.tokens) throw new Error(`${tokens} tokens, but there should be ${theirs?.tokens}`);
    return text !== theirs.text;
  });
  if (differing.length > 0) console.log(`${differing.length} of ${outcomes.length} answers differ`);
}

void main();
