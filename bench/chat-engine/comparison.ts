import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ChatMessage } from '../../src/domain/chat/chat.js';
import type { Report, Task } from './contenders.js';

const RIVAL = '@huggingface/transformers@4.3.1';
const words = ['blue', 'river', 'seven', 'stone', 'cloud', 'green', 'copper', 'moon', 'paper', 'lamp'];

export type Asked = (task: Task) => Promise<Report>;

/** One comparison: how many times better one side is, and how many times it should be. */
export interface Comparison {
  readonly what: string;
  readonly ratio: number;
  readonly target: number;
  readonly shown: string;
}

/** Runs no install scripts: the programs are in the packages. */
export function installRival(temporary: string): void {
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', temporary];
  execFileSync('npm', ['install', ...flags, RIVAL], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Starts a contender as a process of its own. */
export async function contender(children: ChildProcess[], ...args: string[]): Promise<Asked> {
  const child = fork(join(__dirname, 'contenders.js'), args);
  children.push(child);
  child.once('exit', (code) => code && process.exit(code));
  await once(child, 'message');
  return async (task) => {
    child.send(task);
    const [report] = await once(child, 'message');
    return report;
  };
}

/** Changes the contender that begins with each round. */
export async function inTurns<T>(
  round: number,
  [a, b]: readonly [() => Promise<T>, () => Promise<T>],
): Promise<[T, T]> {
  if (round % 2 === 0) return [await a(), await b()];
  const second = await b();
  return [await a(), second];
}

/** Returns a prompt of so many words with a beginning of its own. */
export function conversation(name: string, length: number): ChatMessage[] {
  const text = Array.from({ length }, (_, i) => words[(i * i + length) % words.length]).join(' ');
  return [{ role: 'user', content: `${name}: ${text}` }];
}

/** Throws if the answers differ, because the times would then compare different work. */
export function same({ outcomes }: Report, other: Report): void {
  const differing = outcomes.filter(({ text, tokens }, i) => {
    const theirs = other.outcomes[i];
    if (tokens !== theirs?.tokens) throw new Error(`${tokens} tokens, where there should be ${theirs?.tokens}`);
    return text !== theirs.text;
  });
  if (differing.length > 0) console.log(`${differing.length} of ${outcomes.length} answers differ`);
}

export const rate = ({ outcomes }: Report): number =>
  outcomes.reduce((sum, { tokens }) => sum + tokens, 0) / (Math.max(...outcomes.map(({ tookMs }) => tookMs)) / 1_000);
export const firstToken = ({ outcomes }: Report): number => outcomes[0]?.firstTokenMs ?? Number.NaN;

/** `better` tells whether more or less is better. */
export function comparison(
  better: 'more' | 'less',
  what: string,
  [ours = 0, theirs = 0]: readonly number[],
  target: number,
): Comparison {
  const ratio = better === 'more' ? ours / theirs : theirs / ours;
  return { what, ratio, target, shown: `${ours.toFixed(0)} / ${theirs.toFixed(0)}` };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2;
}

/** Prints the median of each comparison. Fails the program if one is below its target. */
export function judge(rounds: readonly Comparison[][]): void {
  for (const [i, { what, target }] of (rounds[0] ?? []).entries()) {
    const ratio = median(rounds.map((comparisons) => comparisons[i]?.ratio ?? Number.NaN));
    console.log(`${what}: ×${ratio.toFixed(2)}, ${ratio >= target ? 'at least' : 'below'} ${target}`);
    if (!(ratio >= target)) process.exitCode = 1;
  }
}
