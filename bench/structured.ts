import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResponseFormat } from '../src/domain/chat/chat.js';
import { DrivenWorker } from '../tests/support/onnx/driven-worker.js';
import { makeModel } from './chat-engine/model.js';
import { median, wanted } from './rounds.js';

/**
 * Measures eight concurrent greedy answers of the same length: all free, all with a JSON schema, and half of each. The
 * three cases take turns in each round. `npm run bench:structured [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 7);
const AT_ONCE = 8;
const TOKENS = 96;

const person = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 40 },
    age: { type: 'integer', minimum: 0, maximum: 120 },
    kind: { enum: ['adult', 'child'] },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
  },
  required: ['name', 'age', 'kind', 'tags'],
};
/** The array is so long that no answer is complete. */
const schema = { type: 'array', items: person, minItems: 500 };
const responseFormat: ResponseFormat = { json: 'schema', name: 'people', schema, strict: true };

/** Returns the milliseconds of each answer. The first `kept` answers have the schema. */
async function times(worker: DrivenWorker, round: string, kept: number): Promise<number[]> {
  const answers = Array.from({ length: AT_ONCE }, async (_, i) => {
    const format = i < kept ? { responseFormat } : {};
    const answer = await worker.ask({ text: `${round} of ${i}`, maxTokens: TOKENS, caller: `${i}`, ...format });
    if (answer?.completionTokens !== TOKENS) throw new Error(`an answer has ${answer?.completionTokens} tokens`);
    return answer.firstTokenMs + answer.betweenTokensMs.reduce((sum, one) => sum + one, 0);
  });
  return Promise.all(answers);
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tenon-bench-'));
  try {
    makeModel(folder);
    const worker = await new DrivenWorker().load(folder);
    const cost: number[] = [];
    const loss: number[] = [];
    // The first round warms up and compiles the grammar.
    for (let round = 0; round <= ROUNDS; round++) {
      const free = await times(worker, `${round} free`, 0);
      const kept = await times(worker, `${round} kept`, AT_ONCE);
      const mixed = await times(worker, `${round} some`, AT_ONCE / 2);
      const again = await times(worker, `${round} last`, 0);
      if (round === 0) continue;
      const usual = (Math.max(...free) + Math.max(...again)) / 2;
      cost.push(1 - usual / Math.max(...kept));
      loss.push(1 - usual / Math.max(...mixed.slice(AT_ONCE / 2)));
      const rate = (ms: number) => ((AT_ONCE * TOKENS * 1_000) / ms).toFixed(0);
      const figures = `free ${rate(usual)}, kept to a schema ${rate(Math.max(...kept))}, half ${rate(Math.max(...mixed))}`;
      console.log(`round ${round}: ${figures} tokens/s`);
    }
    wanted('tokens/s that a schema costs', 100 * median(cost), 'at most', 15, ' %');
    wanted('tokens/s that answers without a schema lose beside them', 100 * median(loss), 'at most', 3, ' %');
  } finally {
    rmSync(folder, { recursive: true });
  }
  process.exit();
}

void main();
