import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ChatMessage } from '../src/domain/chat/chat.js';
import { ChildRuntimesRig } from '../tests/support/onnx/child-runtimes-rig.js';
import { makeModel } from './chat-engine/model.js';

/**
 * Measures how much one account's prompts delay other accounts on the same runtime. One account sends 30 concurrent
 * prompts of 64,000 characters, which are longer than the context. Meanwhile other accounts make a short call and get a
 * long answer. Each round measures them with the prompts and without. `npm run bench:chat-fairness [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const PROMPTS = 30;
const MESSAGES = 4;
const LENGTH = 16_000;
const ANSWER = 200;

const words = ['blue', 'river', 'seven', 'stone', 'cloud', 'green', 'copper', 'moon', 'paper', 'lamp'];
const text = (at: number) =>
  Array.from({ length: LENGTH / 4 }, (_, i) => words[(i * i + at) % words.length])
    .join(' ')
    .slice(0, LENGTH);
const long: ChatMessage[] = Array.from({ length: MESSAGES }, (_, i) => ({ role: 'user', content: text(i) }));

type Figures = Record<string, number[]>;

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  const rig = new ChildRuntimesRig({ atOnce: undefined, queue: 32, timeoutMs: 120_000 });
  const figures: Figures = {};
  const note = (name: string, value: number) => {
    figures[name] ??= [];
    figures[name].push(value);
  };
  try {
    makeModel(folder);
    const begun = performance.now();
    await rig.start(folder);
    console.log(`loaded after ${(performance.now() - begun).toFixed(0)} ms`);
    for (let round = 0; round <= ROUNDS; round++) {
      const record = round === 0 ? () => undefined : note; // the first round warms up
      record('short call alone, ms', await short(rig, round));
      const refusals = refused(rig);
      record('short call with the prompts, ms', await short(rig, round));
      record('the prompts refused, ms', await refusals);
      record('tokens/s alone', await answer(rig, round));
      const [rate] = await Promise.all([answer(rig, round), pause(100).then(() => refused(rig))]);
      record('tokens/s with the prompts', rate);
    }
    for (const [name, values] of Object.entries(figures)) {
      const [median = 0, most = 0] = [values.sort((a, b) => a - b)[values.length >> 1], values.at(-1)];
      console.log(`${name}: median ${median.toFixed(0)}, from ${values[0]?.toFixed(0)} to ${most.toFixed(0)}`);
    }
  } finally {
    await rig.runtimes.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function short(rig: ChildRuntimesRig, round: number): Promise<number> {
  const begun = performance.now();
  await rig.ask(`${round} Hi`, { caller: 'usr_b', maxTokens: 1 });
  return performance.now() - begun;
}

/** Returns the tokens per second of one answer, as its caller sees them. */
async function answer(rig: ChildRuntimesRig, round: number): Promise<number> {
  const begun = performance.now();
  const { completionTokens } = await rig.ask(`${round} Count`, { caller: 'usr_c', maxTokens: ANSWER });
  return completionTokens / ((performance.now() - begun) / 1_000);
}

/** Returns the milliseconds until all prompts are refused. */
async function refused(rig: ChildRuntimesRig): Promise<number> {
  const begun = performance.now();
  const calls = Array.from({ length: PROMPTS }, () =>
    rig.ask('', { caller: 'usr_a', messages: long }).then(
      () => 'answered',
      (error) => error.code,
    ),
  );
  const outcomes = new Set(await Promise.all(calls));
  if ([...outcomes].join() !== 'context_length_exceeded') throw new Error(`not refused: ${[...outcomes].join()}`);
  return performance.now() - begun;
}

void main();
