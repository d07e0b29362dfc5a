import { Decoder, type Scores } from '../../../src/infrastructure/chat-engine/worker/decoder.js';
import { readModelFiles } from '../../../src/infrastructure/chat-engine/worker/model-files.js';
import { Prompts } from '../../../src/infrastructure/chat-engine/worker/prompts.js';
import { Sampler } from '../../../src/infrastructure/chat-engine/worker/sampler.js';
import { Scheduler } from '../../../src/infrastructure/chat-engine/worker/scheduler.js';

/**
 * Answers one question once for each size of chunks in which the prompt is read. Prints the tokens of each answer.
 *
 *   node prefill-program.js <folder> <what to ask> <chunk>...
 */
const [folder = '', text = '', ...chunks] = process.argv.slice(2);

async function main(): Promise<void> {
  const files = readModelFiles(folder);
  const decoder = await Decoder.load(files, 1);
  const prompt = tokensOf(new Prompts(files).of([{ role: 'user', content: text }]));
  const memory = { bytesPerToken: 1, together: false, reuse: false, kvBytes: 0, cacheBytes: 0 };
  const settings = { stops: new Set<number>(), maxBatch: 1, costs: { batch: 1, token: 1 }, ...memory };
  const choose = (scores: Scores) => new Sampler(0).next(scores);
  const answers: unknown[] = [];
  for (const chunk of chunks) {
    const scheduler = new Scheduler(decoder, { ...settings, chunk: Number(chunk) });
    answers.push(await scheduler.generate(1, { caller: 'usr_a', prompt, room: 40, choose, add: () => false }));
  }
  console.log(JSON.stringify({ promptTokens: prompt.length, answers }));
}

function tokensOf(steps: ReturnType<Prompts['of']>): readonly number[] {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value.tokens;
  }
}

void main();
