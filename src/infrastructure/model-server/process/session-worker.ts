import { parentPort } from 'node:worker_threads';
import { BatchCheck, type BatchVerdict } from './batch-check.js';
import { mayHaveRows } from './batches.js';
import { SessionModel } from './session-model.js';
import { buffersOf, type Signature, type Tensors } from './tensors.js';
import type { Numbered } from './thread.js';

export type SessionQuestion =
  | { readonly type: 'load'; readonly file: string; readonly threads: number; readonly batching: boolean }
  /** `sample` for feeds of one request alone. */
  | { readonly type: 'run'; readonly feeds: Tensors; readonly sample: boolean };

export type SessionAnswer =
  | { readonly type: 'loaded'; readonly signature: Signature }
  | { readonly type: 'broken'; readonly reason: string }
  | { readonly type: 'ran'; readonly result: RunResult; readonly verdict: BatchVerdict };

/** The outputs of a run, or why it has none. */
export type RunResult = { readonly outputs: Tensors } | { readonly problem: string };

// The program of the thread that holds the model.
let model: SessionModel;
let check: BatchCheck | null = null;
let last: Promise<void> = Promise.resolve();

parentPort?.on('message', ({ call, content }: Numbered<SessionQuestion>) => {
  last = last.then(() => (content.type === 'load' ? load(call, content) : run(call, content.feeds, content.sample)));
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
  if (order.batching && mayHaveRows(model.signature)) check = new BatchCheck((feeds) => model.run(feeds));
  answer(call, { type: 'loaded', signature: model.signature });
}

async function run(call: number, feeds: Tensors, sample: boolean): Promise<void> {
  try {
    const outputs = await model.run(feeds);
    // Before the answer gives the outputs away.
    if (sample && check?.verdict === 'unknown') await check.look(feeds, outputs);
    answer(call, ran({ outputs }), buffersOf(outputs));
  } catch (error) {
    answer(call, ran({ problem: (error as Error).message }));
  }
}

const ran = (result: RunResult): SessionAnswer => ({ type: 'ran', result, verdict: check?.verdict ?? 'unknown' });
