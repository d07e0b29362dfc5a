import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResponseFormat, Tool } from '../src/domain/chat/chat.js';
import { DrivenWorker } from '../tests/support/onnx/driven-worker.js';
import { withToolTemplate } from '../tests/support/onnx/tool-templates.js';
import { makeModel } from './chat-engine/model.js';
import { median, wanted } from './rounds.js';

/**
 * Measures eight concurrent greedy answers of the same length: all free, all with a JSON schema, half of each, all with
 * free text beside tools, and all with tool calls. The cases take turns in each round.
 * `npm run bench:structured [rounds]`
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

/** The arguments are so long that no call is complete. */
const tools: Tool[] = [
  { name: 'search', parameters: { type: 'object', properties: { people: schema }, required: ['people'] } },
  { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
];
/** Returns the milliseconds of each answer. The first `kept` answers have the form. */
async function times(worker: DrivenWorker, round: string, kept: number, form = {}): Promise<number[]> {
  const answers = Array.from({ length: AT_ONCE }, async (_, i) => {
    const format = i < kept ? form : {};
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
    for (const [file, change] of Object.entries(withToolTemplate('tags')))
      writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')));
    const worker = await new DrivenWorker().load(folder);
    const cost: number[] = [];
    const loss: number[] = [];
    const ofTools: number[] = [];
    const ofCalls: number[] = [];
    // The first round warms up and compiles the grammar.
    for (let round = 0; round <= ROUNDS; round++) {
      const free = await times(worker, `${round} free`, 0);
      const kept = await times(worker, `${round} kept`, AT_ONCE, { responseFormat });
      const mixed = await times(worker, `${round} some`, AT_ONCE / 2, { responseFormat });
      const beside = await times(worker, `${round} text`, AT_ONCE, { tools });
      const calls = await times(worker, `${round} call`, AT_ONCE, { tools, toolChoice: { tool: 'search' } });
      const again = await times(worker, `${round} last`, 0);
      if (round === 0) continue;
      const usual = (Math.max(...free) + Math.max(...again)) / 2;
      cost.push(1 - usual / Math.max(...kept));
      loss.push(1 - usual / Math.max(...mixed.slice(AT_ONCE / 2)));
      ofTools.push(1 - usual / Math.max(...beside));
      ofCalls.push(1 - usual / Math.max(...calls));
      const rate = (ms: number) => ((AT_ONCE * TOKENS * 1_000) / ms).toFixed(0);
      const figures = `free ${rate(usual)}, kept to a schema ${rate(Math.max(...kept))}, half ${rate(Math.max(...mixed))}`;
      const more = `text beside tools ${rate(Math.max(...beside))}, calls ${rate(Math.max(...calls))}`;
      console.log(`round ${round}: ${figures}, ${more} tokens/s`);
    }
    wanted('tokens/s that a schema costs', 100 * median(cost), 'at most', 15, ' %');
    wanted('tokens/s that tools cost an answer in text', 100 * median(ofTools), 'at most', 15, ' %');
    wanted('tokens/s that a tool call costs', 100 * median(ofCalls), 'at most', 15, ' %');
    wanted('tokens/s that answers without a schema lose beside them', 100 * median(loss), 'at most', 3, ' %');
  } finally {
    rmSync(folder, { recursive: true });
  }
  process.exit();
}

void main();
