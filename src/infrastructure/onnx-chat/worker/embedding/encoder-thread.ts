/** The thread that holds an embedding model. While the model runs, the thread does nothing else. */
import { parentPort } from 'node:worker_threads';
import { nativeMessageOf } from '../../../onnx/onnx-runtime.js';
import type { Order, Report } from '../../protocol.js';
import { BrokenModel } from '../model-files.js';
import { readEmbeddingFiles } from './embedding-files.js';
import { Encoder } from './encoder.js';
import { TextQueue } from './text-queue.js';

/** Calls that run at once. */
const CALLS = 16;
/** Texts in a batch, if the model can run batches. */
const TEXTS = 64;

export type EncoderOrder =
  | Extract<Order, { type: 'load' | 'cancel' }>
  /** Runs the loaded model on some tokens, and reports `ready` or `broken`. */
  | { readonly type: 'try'; readonly sample: readonly number[]; readonly padding: number }
  /** `tokens`: the tokens of all texts, one after another. */
  | {
      readonly type: 'embed';
      readonly call: number;
      readonly caller: string;
      readonly tokens: Int32Array;
      readonly lengths: readonly number[];
    };
export type EncoderReport = Extract<Report, { type: 'ready' | 'broken' | 'embedded' | 'failed' | 'cancelled' }>;

class EncoderThread {
  private loading: Promise<Encoder> | null = null;
  private queue: TextQueue | null = null;

  constructor(private readonly report: (report: EncoderReport) => void) {}

  async take(order: EncoderOrder): Promise<void> {
    switch (order.type) {
      case 'load':
        this.loading = load(order);
        this.loading.catch(() => undefined); // `try` reports the error, because errors of the tokenizer come first
        return;
      case 'try':
        return this.try(order);
      case 'embed':
        return this.embed(order);
      case 'cancel':
        this.queue?.cancel(order.call);
        return this.report({ type: 'cancelled', call: order.call });
    }
  }

  private async try({ sample, padding }: Extract<EncoderOrder, { type: 'try' }>): Promise<void> {
    if (!this.loading) return;
    try {
      const encoder = await this.loading;
      const together = await encoder.try(sample, padding);
      this.queue = new TextQueue((rows) => encoder.encode(rows, padding), together ? TEXTS : 1);
      this.report({ type: 'ready', task: 'embedding', maxBatch: CALLS, context: encoder.context });
    } catch (error) {
      if (!(error instanceof BrokenModel)) throw error;
      this.report({ type: 'broken', reason: error.message });
    }
  }

  private async embed({ call, caller, tokens, lengths }: Extract<EncoderOrder, { type: 'embed' }>): Promise<void> {
    if (!this.queue) return;
    const began = performance.now();
    let end = 0;
    const rows = lengths.map((length) => {
      end += length;
      return tokens.subarray(end - length, end);
    });
    try {
      const found = await this.queue.embed(call, caller, rows);
      if (!found) return;
      const dimensions = found[0]?.length ?? 0;
      const all = new Float32Array(found.length * dimensions);
      for (const [i, vector] of found.entries()) all.set(vector, i * dimensions);
      const vectors = Buffer.from(all.buffer).toString('base64');
      const tookMs = performance.now() - began;
      this.report({ type: 'embedded', call, vectors, dimensions, promptTokens: tokens.length, tookMs });
    } catch (error) {
      this.report({ type: 'failed', call, reason: `the model failed: ${nativeMessageOf(error)}` });
    }
  }
}

/** Rejects with BrokenModel. */
async function load({ folder, threads, weights }: Extract<Order, { type: 'load' }>): Promise<Encoder> {
  return Encoder.load(readEmbeddingFiles(folder, weights), threads);
}

const thread = new EncoderThread((report) => parentPort?.postMessage(report));
parentPort?.on('message', (order: EncoderOrder) => void thread.take(order));
