/** The thread that holds the model and generates answers. During a step of the model it does nothing else. */
import { parentPort } from 'node:worker_threads';
import { nativeMessageOf } from '../../onnx/onnx-runtime.js';
import type { Order, Report } from '../protocol.js';
import { type LoadedModel, loadModel, type ReadyModel, tryModel } from './chat-model.js';
import { BrokenModel } from './model-files.js';

export interface GenerateOrder {
  readonly type: 'generate';
  readonly call: number;
  readonly caller: string;
  readonly prompt: Int32Array;
  readonly room: number;
  readonly temperature: number;
}

export type DecoderOrder =
  | Extract<Order, { type: 'load' | 'cancel' }>
  /** Runs the loaded model on some tokens, and reports `ready` or `broken`. */
  | { readonly type: 'try'; readonly sample: readonly number[] }
  | GenerateOrder;
export type DecoderReport = Extract<Report, { type: 'ready' | 'broken' | 'completed' | 'failed' | 'cancelled' }>;

class DecoderThread {
  private loading: Promise<LoadedModel> | null = null;
  private model: ReadyModel | null = null;

  constructor(private readonly report: (report: DecoderReport) => void) {}

  async take(order: DecoderOrder): Promise<void> {
    switch (order.type) {
      case 'load': {
        const { type: _, folder, threads, ...settings } = order;
        this.loading = loadModel(folder, threads, settings);
        this.loading.catch(() => undefined); // reported after `try`, because the tokenizer's faults come first
        return;
      }
      case 'try':
        return this.try(order.sample);
      case 'generate':
        return this.generate(order);
      case 'cancel':
        this.model?.scheduler.cancel(order.call);
        return this.report({ type: 'cancelled', call: order.call });
    }
  }

  private async try(sample: readonly number[]): Promise<void> {
    if (!this.loading) return;
    try {
      this.model = await tryModel(await this.loading, sample);
      this.report({ type: 'ready', maxBatch: this.model.maxBatch });
    } catch (error) {
      if (!(error instanceof BrokenModel)) throw error;
      this.report({ type: 'broken', reason: error.message });
    }
  }

  private async generate({ call, caller, prompt, room, temperature }: GenerateOrder): Promise<void> {
    if (!this.model) return;
    const { scheduler, vocabulary } = this.model;
    const began = performance.now();
    try {
      const answer = await scheduler.generate(call, { caller, prompt: [...prompt], room, temperature });
      if (!answer) return;
      const { tokens, finishReason, cachedTokens, firstTokenMs } = answer;
      this.report({
        type: 'completed',
        call,
        text: vocabulary.decode(tokens, finishReason === 'length'),
        finishReason,
        promptTokens: prompt.length,
        cachedTokens,
        completionTokens: tokens.length,
        firstTokenMs,
        tookMs: performance.now() - began,
      });
    } catch (error) {
      this.report({ type: 'failed', call, reason: `the model failed: ${nativeMessageOf(error)}` });
    }
  }
}

const thread = new DecoderThread((report) => parentPort?.postMessage(report));
parentPort?.on('message', (order: DecoderOrder) => void thread.take(order));
