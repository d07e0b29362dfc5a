import { parentPort } from 'node:worker_threads';
import { BatchCheck, type BatchVerdict } from './batch-check.js';
import { joinRows, mayHaveRows, rowsOf, splitRows } from './batches.js';
import { SessionModel } from './session-model.js';
import { buffersOf, type Signature, type Tensors } from './tensors.js';
import type { Numbered } from './thread.js';

export type SessionQuestion =
  | { readonly type: 'load'; readonly file: string; readonly threads: number; readonly batching: boolean }
  | { readonly type: 'run'; readonly requests: readonly Tensors[] };

export type SessionAnswer =
  | { readonly type: 'loaded'; readonly signature: Signature }
  | { readonly type: 'broken'; readonly reason: string }
  | { readonly type: 'ran'; readonly results: readonly RunResult[]; readonly verdict: BatchVerdict };

/** The outputs of one request, or why it has none. */
export type RunResult = { readonly outputs: Tensors } | { readonly problem: string };

// The program of the thread that holds the model.
let model: SessionModel;
let check: BatchCheck | null = null;
let last: Promise<void> = Promise.resolve();

parentPort?.on('message', ({ call, content }: Numbered<SessionQuestion>) => {
  last = last.then(() => (content.type === 'load' ? load(call, content) : run(call, content.requests)));
});

function answer(call: number, content: SessionAnswer, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage({ call, content } satisfies Numbered<SessionAnswer>, transfer);
}

async function load(call: number, order: Extract<SessionQuestion, { type: 'load' }>): Promise<void> {
  try {
    model = await SessionModel.load(order.file, order.threads);
  } catch (error) {
    answer(call, { type: 'broken', reason: (error as Error).message });
    return;
  }
  const { signature } = model;
  if (order.batching && mayHaveRows(signature)) check = new BatchCheck((feeds) => model.run(feeds));
  answer(call, { type: 'loaded', signature });
}

async function run(call: number, requests: readonly Tensors[]): Promise<void> {
  const results = (await together(requests)) ?? (await oneByOne(requests));
  const [feeds] = requests;
  const [result] = results;
  // The check needs the outputs, which the answer gives away.
  if (check?.verdict === 'unknown' && feeds && result && 'outputs' in result) await check.look(feeds, result.outputs);
  const outputs = results.flatMap((one) => ('outputs' in one ? one.outputs : []));
  answer(call, { type: 'ran', results, verdict: check?.verdict ?? 'different' }, buffersOf(outputs));
}

/** Null where that is not possible: one bad request must not fail the others. */
async function together(requests: readonly Tensors[]): Promise<RunResult[] | null> {
  if (requests.length === 1) return null;
  try {
    const outputs = splitRows(await model.run(joinRows(requests)), requests.map(rowsOf));
    return outputs?.map((one) => ({ outputs: one })) ?? null;
  } catch {
    return null;
  }
}

async function oneByOne(requests: readonly Tensors[]): Promise<RunResult[]> {
  const results: RunResult[] = [];
  for (const feeds of requests) {
    const result = model.run(feeds).then((outputs) => ({ outputs }));
    results.push(await result.catch((error: Error) => ({ problem: error.message })));
  }
  return results;
}
