import { createInterface } from 'node:readline';
import type { LoadSettings } from '../../../src/infrastructure/onnx-chat/protocol.js';
import { DrivenWorker, type Question } from './driven-worker.js';

/** Contains rounds of questions. All questions of a round are asked at once, after the answers of the round before. */
export interface Rounds {
  readonly folder: string;
  readonly settings?: LoadSettings;
  readonly rounds: readonly (readonly Question[])[];
}

/** Reads `Rounds` from each line of standard input. Prints a line with the answers of all its rounds. */
async function main(): Promise<void> {
  for await (const line of createInterface(process.stdin)) {
    const { folder, settings, rounds } = JSON.parse(line) as Rounds;
    const worker = await new DrivenWorker().load(folder, settings);
    const answers: unknown[] = [];
    for (const round of rounds) answers.push(await Promise.all(round.map((question) => worker.ask(question))));
    console.log(JSON.stringify({ maxBatch: worker.maxBatch, answers }));
  }
  // The threads of the workers would keep the process alive.
  process.exit();
}

void main();
