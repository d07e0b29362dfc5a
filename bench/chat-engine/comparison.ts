import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ChatMessage } from '../../src/domain/chat/chat.js';
import type { Report, Task } from './contenders.js';

const RIVAL = '@huggingface/transformers@4.3.1';
const words = ['blue', 'river', 'seven', 'stone', 'cloud', 'green', 'copper', 'moon', 'paper', 'lamp'];

export type Asked = (task: Task) => Promise<Report>;

export interface Comparison {
  readonly name: string;
  /** The ratio of two measured figures. It is above 1 if the first, usually ours, is better. */
  readonly ratio: number;
  /** The least permitted ratio. */
  readonly target: number;
  /** Both figures as text. */
  readonly shown: string;
}

/** Installs @huggingface/transformers without install scripts, which are not needed. */
export function installRival(temporary: string): void {
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', temporary];
  execFileSync('npm', ['install', ...flags, RIVAL], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Starts a contender as a process. Returns a function that gives it a task. */
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

/** Runs both contenders one after the other. In odd rounds the second begins. */
export async function inTurns<T>(
  round: number,
  [a, b]: readonly [() => Promise<T>, () => Promise<T>],
): Promise<[T, T]> {
  if (round % 2 === 0) return [await a(), await b()];
  const second = await b();
  return [await a(), second];
}

/** Returns a prompt of the name, a colon and `length` words. */
export function conversation(name: string, length: number): ChatMessage[] {
  const text = Array.from({ length }, (_, i) => words[(i * i + length) % words.length]).join(' ');
  return [{ role: 'user', content: `${name}: ${text}` }];
}

/** Throws if the numbers of tokens differ, because then the work differs. Prints how many texts differ. */
export function requireSameTokens({ outcomes }: Report, other: Report): void {
  const differing = outcomes.filter(({ text, tokens }, i) => {
    const theirs = other.outcomes[i];
    if (tokens !== theirs?.tokens) throw new Error(`${tokens} tokens, but there should be ${theirs?.tokens}`);
    return text !== theirs.text;
  });
  if (differing.length > 0) console.log(`${differing.length} of ${outcomes.length} answers differ`);
}

export const rate = ({ outcomes }: Report): number =>
  outcomes.reduce((sum, { tokens }) => sum + tokens, 0) / (Math.max(...outcomes.map(({ tookMs }) => tookMs)) / 1_000);
export const firstToken = ({ outcomes }: Report): number => outcomes[0]?.firstTokenMs ?? Number.NaN;

/** Compares two figures. `better` says whether more or less is better. */
export function comparison(
  better: 'more' | 'less',
  name: string,
  [ours = 0, theirs = 0]: readonly number[],
  target: number,
): Comparison {
  const ratio = better === 'more' ? ours / theirs : theirs / ours;
  return { name, ratio, target, shown: `${ours.toFixed(0)} / ${theirs.toFixed(0)}` };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] as number) + (sorted[Math.ceil(middle)] as number)) / 2;
}

/** Prints the median of each comparison. Fails the program if one is below its target. */
export function judge(rounds: readonly Comparison[][]): void {
  for (const [i, { name, target }] of (rounds[0] ?? []).entries()) {
    const ratio = median(rounds.map((comparisons) => comparisons[i]?.ratio ?? Number.NaN));
    console.log(`${name}: ×${ratio.toFixed(2)}, ${ratio >= target ? 'at least' : 'below'} ${target}`);
    if (!(ratio >= target)) process.exitCode = 1;
  }
}
