import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { roundsProgram } from '../../support/onnx/child-runtimes-rig.js';
import type { Completed, Question } from '../../support/onnx/driven-worker.js';
import { ModelFolders, tinyChat, withoutEnd } from '../../support/onnx/model-folders.js';
import type { Rounds } from '../../support/onnx/rounds-program.js';

const folders = new ModelFolders();
const program = spawn('node', [roundsProgram], { stdio: ['pipe', 'pipe', 'inherit'] });
const printed = createInterface(program.stdout)[Symbol.asyncIterator]();
afterAll(async () => {
  program.stdin.end();
  await once(program, 'close');
  folders.remove();
});

/** Asks a new worker. Returns its answers. */
async function run(rounds: Rounds): Promise<{ maxBatch: number; answers: Completed[][] }> {
  program.stdin.write(`${JSON.stringify(rounds)}\n`);
  const { value } = await printed.next();
  return JSON.parse(value ?? '');
}

const capitals = ['France', 'Italy', 'Spain', 'Germany', 'Portugal', 'Japan', 'Egypt', 'Peru'];
const words = ['blue', 'river', 'seven', 'stone', 'cloud', 'green', 'copper', 'moon'];

/** Lists over sixty questions. Their prompts have 10 to over 200 tokens. Some have the same beginning. */
const mixed: Question[] = [
  ...capitals.map((land) => ({ text: `What is the capital of ${land}?` })),
  ...Array.from({ length: 16 }, (_, i) => ({ text: `What is ${i % 9} + ${(i * 7) % 10}?` })),
  ...Array.from({ length: 16 }, (_, i) => {
    const some = Array.from({ length: 1 + ((i * 5) % 40) }, (_, at) => words[(i + at * at) % words.length]);
    return { text: `Repeat after me: ${some.join(' ')}`, maxTokens: 12 };
  }),
  ...Array.from({ length: 10 }, (_, i) => ({ text: `Count from 1 to ${2 + i}.`, maxTokens: i % 9 === 8 ? null : 12 })),
  ...Array.from({ length: 16 }, (_, i) => ({
    messages: [
      { role: 'system' as const, content: 'You are a helpful assistant.'.repeat(1 + (i % 3)) },
      { role: 'user' as const, content: `Hello! ${words[i % 8]}` },
      { role: 'assistant' as const, content: 'Hello! How can I help you today?' },
      { role: 'user' as const, content: `What is ${i} - ${i % 7}?` },
    ],
    maxTokens: 3 + (i % 10),
  })),
];

const plainly = { maxBatch: 1, cacheBytes: 0 };
const textsOf = (answers: Completed[][]) =>
  answers.flat().map(({ text, finishReason, completionTokens }) => ({ text, finishReason, completionTokens }));

describe('answers of a batch', () => {
  it('equal the answers that tiny-chat gives one at a time without a cache, to over sixty questions', async () => {
    expect(mixed.length).toBeGreaterThan(60);
    const alone = await run({ folder: tinyChat, settings: plainly, rounds: mixed.map((question) => [question]) });
    expect(alone.maxBatch).toBe(1);
    expect(alone.answers.flat().every(({ cachedTokens }) => cachedTokens === 0)).toBe(true);
    const together = await run({ folder: tinyChat, rounds: [mixed] });
    expect(together.maxBatch).toBe(16);
    expect(textsOf(together.answers)).toEqual(textsOf(alone.answers));
    // Some questions have the same beginning.
    expect(together.answers.flat().filter(({ cachedTokens }) => cachedTokens > 20).length).toBeGreaterThan(12);
    const again = await run({
      folder: tinyChat,
      settings: { maxBatch: 3, cacheBytes: 200_000 },
      rounds: [mixed.filter((_, i) => i % 2 === 0)],
    });
    expect(textsOf(again.answers)).toEqual(textsOf(alone.answers).filter((_, i) => i % 2 === 0));
  }, 120_000);

  it.each([
    ['takes positions and a mask', { attention: 'plain' }],
    ['gets only the lengths from its mask', { attention: 'group_query' }],
    ['has a cache of half precision', { attention: 'plain', half: true }],
  ] as const)('equal those given one at a time by a model that %s', async (_, about) => {
    const folder = folders.random(about);
    const some = mixed.filter((_, i) => i % 5 === 0).map((question) => ({ ...question, maxTokens: 12 }));
    const alone = await run({ folder, settings: plainly, rounds: some.map((question) => [question]) });
    const together = await run({ folder, settings: { maxBatch: 5 }, rounds: [some] });
    expect(together.maxBatch).toBe(5);
    expect(textsOf(together.answers)).toEqual(textsOf(alone.answers));
    expect(new Set(textsOf(alone.answers).map(({ text }) => text)).size).toBeGreaterThan(some.length / 2);
  });

  it.each([
    ['reads padding as tokens', () => folders.toy({ countsPadding: true }, withoutEnd)],
    ['takes only one sequence', () => folders.toy({ single: true }, withoutEnd)],
    ['lets the rows of a batch affect each other a little', () => folders.random({ quantized: 'step' })],
  ])('are given one at a time by a model that %s', async (_, make) => {
    const folder = make();
    const some = mixed.slice(0, 12).map((question) => ({ ...question, maxTokens: 10 }));
    const alone = await run({ folder, settings: plainly, rounds: some.map((question) => [question]) });
    const together = await run({ folder, rounds: [some] });
    expect(together.maxBatch).toBe(1);
    expect(textsOf(together.answers)).toEqual(textsOf(alone.answers));
  });

  it.each([
    ['weights of 8 bits and rounded inner values', { quantized: 'blocks' }],
    ['the same and a cache of half precision', { quantized: 'blocks', half: true }],
    ['inner values of half precision', { quantized: 'halves', half: true }],
  ] as const)('are the same alone, in company and again from a model with %s', async (_, about) => {
    const folder = folders.random({ layers: 8, seed: 3, ...about });
    const some = mixed.slice(0, 16).map((question) => ({ ...question, maxTokens: 40 }));
    const alone = await run({ folder, settings: plainly, rounds: some.map((question) => [question]) });
    const together = await run({ folder, rounds: [some, some] });
    expect(textsOf(together.answers)).toEqual([...textsOf(alone.answers), ...textsOf(alone.answers)]);
    expect(together.maxBatch).toBe(1);
    expect(together.answers.flat().every(({ cachedTokens }) => cachedTokens === 0)).toBe(true);
  });

  it('are the same when some callers of the batch give up', async () => {
    const folder = folders.random();
    const some = mixed.slice(30, 54).map((question, i) => ({ ...question, maxTokens: 12, dropped: i % 3 === 1 }));
    const staying = some.filter(({ dropped }) => !dropped);
    const alone = await run({ folder, settings: plainly, rounds: staying.map((question) => [question]) });
    const together = await run({ folder, rounds: [some, some] });
    const answered = together.answers.map((round) => round.filter((answer) => answer));
    expect(together.answers.flat().filter((answer) => !answer)).toHaveLength(16);
    expect(textsOf(answered)).toEqual([...textsOf(alone.answers), ...textsOf(alone.answers)]);
  });

  it('continue from the cache of an earlier call', async () => {
    const folder = folders.random();
    const begun = { role: 'user' as const, content: 'Repeat after me: blue river seven stone cloud green' };
    const [[first]] = (await run({ folder, rounds: [[{ messages: [begun], maxTokens: 20 }]] })).answers as [
      [Completed],
    ];
    const turns = [
      begun,
      { role: 'assistant' as const, content: first.text },
      { role: 'user' as const, content: 'And?' },
    ];
    const rounds = [[{ messages: [begun], maxTokens: 20 }], [{ messages: turns, maxTokens: 20 }]];
    const warm = await run({ folder, rounds });
    const cold = await run({ folder, settings: { cacheBytes: 0 }, rounds });
    expect(textsOf(warm.answers)).toEqual(textsOf(cold.answers));
    expect(cold.answers.flat().map(({ cachedTokens }) => cachedTokens)).toEqual([0, 0]);
    expect(warm.answers[1]?.[0]?.cachedTokens).toBeGreaterThanOrEqual(first.promptTokens);
  });
});
