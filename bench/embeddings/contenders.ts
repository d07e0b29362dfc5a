import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { Report } from '../../src/infrastructure/onnx-chat/protocol.js';
import { EmbeddingWorker } from '../../src/infrastructure/onnx-chat/worker/embedding/embedding-worker.js';

export interface Task {
  readonly texts: readonly string[];
}

export interface Outcome {
  readonly vectors: readonly (readonly number[])[];
  readonly tookMs: number;
  /** The processor time. Other programs on the machine disturb it less than `tookMs`. */
  readonly processorMs: number;
}

type Contender = (task: Task) => Promise<number[][]>;

/** Makes the contender from the chat worker's code, which runs in this process. */
async function ours(folder: string): Promise<Contender> {
  let receive = (_: Report) => {};
  const worker = new EmbeddingWorker((report) => receive(report));
  await new Promise<void>((resolve) => {
    receive = (report) => {
      if (report.type === 'broken') throw new Error(report.reason);
      resolve();
    };
    worker.take({ type: 'load', folder, threads: 1 });
  });
  let call = 0;
  return ({ texts }) =>
    new Promise((resolve) => {
      call += 1;
      receive = (report) => {
        if (report.type === 'tokenized') worker.take({ type: 'generate', call });
        else if (report.type !== 'embedded') throw new Error(JSON.stringify(report));
        else {
          const { buffer } = Uint8Array.from(Buffer.from(report.vectors, 'base64'));
          const { dimensions: size } = report;
          resolve(texts.map((_, i) => [...new Float32Array(buffer).subarray(i * size, (i + 1) * size)]));
        }
      };
      worker.take({ type: 'tokenize_texts', call, caller: 'usr_a', texts });
    });
}

/** Makes the contender from @huggingface/transformers in the folder `modules`. */
async function theirs(folder: string, modules: string): Promise<Contender> {
  const { env, pipeline } = createRequire(join(modules, 'x.js'))('@huggingface/transformers');
  Object.assign(env, { allowRemoteModels: false, localModelPath: dirname(folder) });
  const sessionOptions = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3 };
  const options = { dtype: 'fp32', session_options: sessionOptions };
  const extract = await pipeline('feature-extraction', basename(folder), options);
  return async ({ texts }) => (await extract(texts, { pooling: 'mean', normalize: true })).tolist();
}

/** Runs a contender as a process: `node contenders.js <ours|theirs> <model folder> [folder of modules]`. */
async function main(): Promise<void> {
  const [who, folder = '', modules = ''] = process.argv.slice(2);
  const contender = await (who === 'ours' ? ours(folder) : theirs(folder, modules));
  process.on('message', async (task: Task) => {
    const before = process.cpuUsage();
    const began = performance.now();
    const vectors = await contender(task);
    const tookMs = performance.now() - began;
    const { user, system } = process.cpuUsage(before);
    process.send?.({ vectors, tookMs, processorMs: (user + system) / 1_000 } satisfies Outcome);
  });
  process.once('disconnect', () => process.exit());
  process.send?.('ready');
}

void main();
