import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ChatMessage } from '../src/domain/chat/chat.js';
import type { Report, Task } from './chat-engine/contenders.js';
import { makeModel } from './chat-engine/model.js';

/**
 * The chat engine beside @huggingface/transformers, which is installed for this into a temporary folder: the same model,
 * each in a process of its own with one thread, in turns, round by round, with the same answers.
 * `npm run bench:chat-engine [rounds] [model folder]`
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const FOLDER = process.argv[3];
const AT_ONCE = 16;
const RIVAL = '@huggingface/transformers@4.3.1';
const words = ['blue', 'river', 'seven', 'stone', 'cloud', 'green', 'copper', 'moon', 'paper', 'lamp'];

type Asked = (task: Task) => Promise<Report>;

/** One comparison: how many times better the engine is, and how many times it should be. */
interface Comparison {
  readonly what: string;
  readonly ratio: number;
  readonly target: number;
  readonly shown: string;
}

async function main(): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  const model = FOLDER ? resolve(FOLDER) : join(temporary, 'model');
  const children: ChildProcess[] = [];
  try {
    if (!FOLDER) makeModel(model);
    install(temporary);
    const ours = await contender(children, 'ours', model);
    const theirs = await contender(children, 'theirs', model, temporary);
    const rounds: Comparison[][] = [];
    // The first round warms up.
    for (let round = 0; round <= ROUNDS; round++) {
      const comparisons = await play(round, ours, theirs);
      if (round === 0) continue;
      rounds.push(comparisons);
      for (const { what, shown } of comparisons) console.log(`round ${round}: ${what}: ${shown}`);
    }
    judge(rounds);
  } finally {
    for (const child of children) child.kill();
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Runs no install scripts: the programs are in the packages. */
function install(temporary: string): void {
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', temporary];
  execFileSync('npm', ['install', ...flags, RIVAL], { stdio: ['ignore', 'ignore', 'inherit'] });
}

async function contender(children: ChildProcess[], ...args: string[]): Promise<Asked> {
  const child = fork(join(__dirname, 'chat-engine', 'contenders.js'), args);
  children.push(child);
  child.once('exit', (code) => code && process.exit(code));
  await once(child, 'message');
  return async (task) => {
    child.send(task);
    const [report] = await once(child, 'message');
    return report;
  };
}

async function play(round: number, ours: Asked, theirs: Asked): Promise<Comparison[]> {
  const both = async (task: Task): Promise<[Report, Report]> => {
    const reports = await inTurns(round, [() => ours(task), () => theirs(task)]);
    same(...reports);
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
  same(cold, warm);
  return [
    comparison('more', 'one stream, tokens/s', one.map(rate), 0.95),
    comparison('less', 'one stream, processor ms', one.map(work), 0.95),
    comparison('more', `${AT_ONCE} at once, tokens/s`, many.map(rate), 2),
    comparison('less', `${AT_ONCE} at once, processor ms`, many.map(work), 2),
    comparison('less', `${AT_ONCE} at once, median ms`, many.map(halfDone), 2),
    comparison('less', 'first token of a long history, again and at first, ms', [warm, cold].map(firstToken), 3),
  ];
}

/** Changes the contender that begins with each round. */
async function inTurns<T>(round: number, [a, b]: readonly [() => Promise<T>, () => Promise<T>]): Promise<[T, T]> {
  if (round % 2 === 0) return [await a(), await b()];
  const second = await b();
  return [await a(), second];
}

/** Returns a prompt of so many words with a beginning of its own. */
function conversation(name: string, length: number): ChatMessage[] {
  const text = Array.from({ length }, (_, i) => words[(i * i + length) % words.length]).join(' ');
  return [{ role: 'user', content: `${name}: ${text}` }];
}

/** Throws if the answers differ, because the times would then compare different work. */
function same({ outcomes }: Report, other: Report): void {
  const differing = outcomes.filter(({ text, tokens }, i) => {
    const theirs = other.outcomes[i];
    if (tokens !== theirs?.tokens) throw new Error(`${tokens} tokens, where there should be ${theirs?.tokens}`);
    return text !== theirs.text;
  });
  if (differing.length > 0) console.log(`${differing.length} of ${outcomes.length} answers differ`);
}

const rate = ({ outcomes }: Report): number =>
  outcomes.reduce((sum, { tokens }) => sum + tokens, 0) / (Math.max(...outcomes.map(({ tookMs }) => tookMs)) / 1_000);
const work = ({ processorMs }: Report): number => processorMs;
const halfDone = ({ outcomes }: Report): number => median(outcomes.map(({ tookMs }) => tookMs));
const firstToken = ({ outcomes }: Report): number => outcomes[0]?.firstTokenMs ?? Number.NaN;

/** `better` tells whether more or less is better. */
function comparison(better: 'more' | 'less', what: string, [ours = 0, theirs = 0]: readonly number[], target: number) {
  const ratio = better === 'more' ? ours / theirs : theirs / ours;
  return { what, ratio, target, shown: `${ours.toFixed(0)} / ${theirs.toFixed(0)}` };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2;
}

function judge(rounds: readonly Comparison[][]): void {
  for (const [i, { what, target }] of (rounds[0] ?? []).entries()) {
    const ratio = median(rounds.map((comparisons) => comparisons[i]?.ratio ?? Number.NaN));
    console.log(`${what}: ×${ratio.toFixed(2)}, ${ratio >= target ? 'at least' : 'below'} ${target}`);
    if (!(ratio >= target)) process.exitCode = 1;
  }
}

void main();
