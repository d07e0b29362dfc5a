/**
 * Asks tiny-chat questions through a chat worker and compares the answers.
 *
 *   node dist/tools/tiny-chat/check.js [<file with held-out questions>] [<folder of the model>]
 *
 * Asks those of questions.json first. Ends with 1 if one of these gets another answer.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestMessage } from '../../src/domain/chat/chat.js';
import type { JsonObject } from '../../src/domain/workspace/json.js';
import { ChildRuntimesRig } from '../../tests/support/onnx/child-runtimes-rig.js';
import { tinyChat } from '../../tests/support/onnx/model-folders.js';

interface Known {
  readonly skill: string;
  readonly ask: string;
  readonly answer: string;
}

/** As folder.py writes it. With a schema, the answer is JSON that a grammar holds. */
interface HeldOut {
  readonly skill: string;
  readonly messages: readonly RequestMessage[];
  readonly answer: string;
  readonly schema?: JsonObject;
}

const AT_ONCE = 8;

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

async function main(): Promise<void> {
  const [heldOut, folder = tinyChat] = process.argv.slice(2);
  const rig = new ChildRuntimesRig({ atOnce: AT_ONCE, queue: AT_ONCE, timeoutMs: 60_000 });
  const { state, reason } = await rig.start(folder);
  if (state !== 'ready') throw new Error(`the model does not load: ${reason}`);
  console.log(JSON.stringify(rig.log.of('chat runtime ready')[0]?.fields ?? {}));
  try {
    const known = read(join(process.cwd(), 'tools/tiny-chat/questions.json')) as Known[];
    for (const { ask, answer } of known) {
      const { text } = await rig.ask(ask);
      if (text === answer) continue;
      process.exitCode = 1;
      console.log(`${ask}\n  wanted ${JSON.stringify(answer)}\n  got    ${JSON.stringify(text)}`);
    }
    console.log(`${known.length} known questions asked`);
    if (heldOut) await measure(rig, read(heldOut) as HeldOut[]);
  } finally {
    await rig.runtimes.close();
  }
}

/** Prints the share of right answers of each skill, how many answers ended, and the first wrong answers. */
async function measure(rig: ChildRuntimesRig, questions: readonly HeldOut[]): Promise<void> {
  for (const skill of new Set(questions.map((one) => one.skill))) {
    const some = questions.filter((one) => one.skill === skill);
    let [right, ended] = [0, 0];
    const wrong: string[] = [];
    for (let i = 0; i < some.length; i += AT_ONCE) {
      await Promise.all(
        some.slice(i, i + AT_ONCE).map(async ({ messages, answer, schema }, at) => {
          const format = schema && {
            responseFormat: { json: 'schema', name: 'answer', schema, strict: true } as const,
          };
          const about = { messages, maxTokens: 400, cutToContext: true, caller: `usr_${at}`, ...format };
          const { text, finishReason } = await rig.ask('', about);
          ended += finishReason === 'stop' ? 1 : 0;
          if (text === answer) right += 1;
          else wrong.push(`  wanted ${JSON.stringify(answer)}\n  got    ${JSON.stringify(text)}`);
        }),
      );
    }
    console.log(`${skill}: ${right} of ${some.length} right, ${ended} ended`);
    for (const one of wrong.slice(0, 2)) console.log(one);
  }
}

void main();
