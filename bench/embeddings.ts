import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { tinyEmbed } from '../tests/support/onnx/model-folders.js';
import { Contenders, inTurns, TRANSFORMERS } from './contenders.js';
import type { Outcome, Task } from './embeddings/contenders.js';
import { makeEncoder } from './embeddings/model.js';
import { installed } from './peers.js';
import { median, medianOf, ratio, wanted } from './rounds.js';

/**
 * Compares the embedding engine with @huggingface/transformers, for 64 short texts at once. Both run the same models in
 * their own process with one thread, and take turns in each round. `npm run bench:embeddings [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 9);
const AT_ONCE = 64;
const words = 'the cat sat on a warm wall while rain fell and nobody in town paid the price of bread'.split(' ');

async function main(): Promise<void> {
  const modules = installed(TRANSFORMERS);
  if (!modules) return;
  const temporary = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  try {
    const [tiny, large] = [join(temporary, 'tiny-embed'), join(temporary, 'minilm-sized')];
    cpSync(tinyEmbed, tiny, { recursive: true });
    makeEncoder(large);
    for (const folder of [tiny, large]) await compare(folder, modules);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function compare(folder: string, modules: string): Promise<void> {
  const contenders = new Contenders<Task, Outcome>('embeddings/contenders.js');
  try {
    const ours = await contenders.start('ours', folder);
    const theirs = await contenders.start('theirs', folder, modules);
    const name = basename(folder);
    const short = { texts: textsOf(AT_ONCE, 12) };
    const [times, theirTimes, processor]: [number[], number[], number[]] = [[], [], []];
    let difference = 0;
    for (let round = 0; round <= ROUNDS; round++) {
      const [one, two] = await inTurns(round, [() => ours(short), () => theirs(short)]);
      difference = Math.max(difference, largestDifference(one, two));
      if (round === 0) continue; // the first round warms up
      times.push(one.tookMs);
      theirTimes.push(two.tookMs);
      processor.push(two.processorMs / one.processorMs);
    }
    console.log(`${name}: Node ${process.version}, ${ROUNDS} rounds, vectors differ by ${difference.toExponential(1)}`);
    console.log(`${AT_ONCE} texts: ${median(times).toFixed(1)} / ${median(theirTimes).toFixed(1)} ms`);
    wanted('as a ratio', medianOf(theirTimes, times, ratio), 'at least', 1);
    wanted('the ratio of processor time', median(processor), 'at least', 1);
  } finally {
    contenders.end();
  }
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
