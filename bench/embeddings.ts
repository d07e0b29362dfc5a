import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { tinyEmbed } from '../tests/support/onnx/model-folders.js';
import { installRival, inTurns } from './chat-engine/comparison.js';
import type { Outcome, Task } from './embeddings/contenders.js';
import { makeEncoder, poolings } from './embeddings/model.js';
import { median } from './rounds.js';

/**
 * Compares the embedding engine with @huggingface/transformers, which it installs into a temporary folder. Both run the
 * same models in their own process with one thread, and take turns in each round. Fails if a number of a vector differs
 * by more than 1e-4, or if ours takes longer for 64 short texts at once. `npm run bench:embeddings [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const AT_ONCE = 64;
const LARGEST_DIFFERENCE = 1e-4;
const words = 'the cat sat on a warm wall while rain fell and nobody in town paid the price of bread'.split(' ');

type Contender = (task: Task) => Promise<Outcome>;

async function main(): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  try {
    installRival(temporary);
    const tiny = join(temporary, 'tiny-embed');
    cpSync(tinyEmbed, tiny, { recursive: true });
    await compare(tiny, { pooling: 'mean', normalize: true }, temporary);
    for (const pooling of poolings) {
      for (const normalize of [true, false]) {
        const folder = join(temporary, `${pooling}-${normalize ? 'normalized' : 'plain'}`);
        makeEncoder(folder, pooling, normalize);
        await compare(folder, { pooling, normalize }, temporary);
      }
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function compare(folder: string, options: Omit<Task, 'texts'>, modules: string): Promise<void> {
  const children: ChildProcess[] = [];
  try {
    const ours = await contender(children, 'ours', folder);
    const theirs = await contender(children, 'theirs', folder, modules);
    const name = basename(folder);
    const mixed = { texts: textsOf(AT_ONCE, 40), ...options };
    const difference = largestDifference(await ours(mixed), await theirs(mixed));
    console.log(`${name}: numbers differ by at most ${difference.toExponential(1)}`);
    if (!(difference <= LARGEST_DIFFERENCE)) process.exitCode = 1;
    if (options.pooling !== 'mean' || !options.normalize) return;
    const short = { texts: textsOf(AT_ONCE, 12), ...options };
    const ratios = { time: [] as number[], processor: [] as number[] };
    for (let round = 0; round <= ROUNDS; round++) {
      const [one, two] = await inTurns(round, [() => ours(short), () => theirs(short)]);
      if (round === 0) continue; // the first round warms up
      ratios.time.push(two.tookMs / one.tookMs);
      ratios.processor.push(two.processorMs / one.processorMs);
      console.log(`round ${round}: ${name}: ${AT_ONCE} texts, ms: ${one.tookMs.toFixed(1)} / ${two.tookMs.toFixed(1)}`);
    }
    const [time, processor] = [median(ratios.time), median(ratios.processor)];
    console.log(`${name}: ×${time.toFixed(2)} as fast, ×${processor.toFixed(2)} by processor time; at least 1`);
    if (!(time >= 1)) process.exitCode = 1;
  } finally {
    for (const child of children) child.kill();
  }
}

async function contender(children: ChildProcess[], ...args: string[]): Promise<Contender> {
  const child = fork(join(__dirname, 'embeddings', 'contenders.js'), args);
  children.push(child);
  child.once('exit', (code) => code && process.exit(code));
  await once(child, 'message');
  return async (task) => {
    child.send(task);
    const [outcome] = await once(child, 'message');
    return outcome;
  };
}

/** Returns texts of 1 to `longest` words. */
const textsOf = (count: number, longest: number): string[] =>
  Array.from({ length: count }, (_, i) =>
    Array.from({ length: 1 + ((i * 7) % longest) }, (_, j) => words[(i + j * j) % words.length]).join(' '),
  );

const largestDifference = (one: Outcome, two: Outcome): number =>
  Math.max(
    ...one.vectors.flatMap((vector, i) => vector.map((value, j) => Math.abs(value - (two.vectors[i]?.[j] ?? NaN)))),
  );

void main();
