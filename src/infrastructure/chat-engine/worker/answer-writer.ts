import { nativeMessageOf } from '../../onnx/native-errors.js';
import type { LoadSettings, Order, Report } from '../protocol.js';
import { BrokenModel } from './broken-model.js';
import { type LoadedModel, loadModel, type TriedModel, tried } from './chat-model.js';

export type WriterOrder =
  | Extract<Order, { type: 'load' | 'drop' }>
  /** Begins once the model is loaded: has it take some steps with these tokens, so that what is called ready has run. */
  | { readonly type: 'try'; readonly sample: readonly number[] }
  | {
      readonly type: 'generate';
      readonly call: number;
      readonly caller: string;
      readonly prompt: Int32Array;
      readonly room: number;
      readonly temperature: number;
    };
export type WriterReport = Extract<Report, { type: 'ready' | 'broken' | 'completed' | 'failed' | 'dropped' }>;

/** Has the model write answers. While it takes a step, its thread does nothing else. */
export class AnswerWriter {
  private loading: Promise<LoadedModel> | null = null;
  private model: TriedModel | null = null;

  constructor(private readonly report: (report: WriterReport) => void) {}

  async take(order: WriterOrder): Promise<void> {
    switch (order.type) {
      case 'load':
        return this.load(order);
      case 'try':
        return this.try(order.sample);
      case 'generate':
        return this.answer(order);
      case 'drop':
        this.model?.scheduler.drop(order.call);
        return this.report({ type: 'dropped', call: order.call });
    }
  }

  private load({ folder, threads, ...settings }: { folder: string; threads: number } & LoadSettings): void {
    this.loading = loadModel(folder, threads, settings);
    // That it is broken is said once the rest of it is known to be whole.
    this.loading.catch(() => undefined);
  }

  private async try(sample: readonly number[]): Promise<void> {
    if (!this.loading) return;
    try {
      this.model = await tried(await this.loading, sample);
      this.report({ type: 'ready', maxBatch: this.model.maxBatch });
    } catch (error) {
      if (!(error instanceof BrokenModel)) throw error;
      this.report({ type: 'broken', reason: error.message });
    }
  }

  private async answer({ call, caller, prompt, room, temperature }: Extract<WriterOrder, { type: 'generate' }>) {
    if (!this.model) return;
    const { scheduler, vocabulary } = this.model;
    const begun = performance.now();
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
        tookMs: performance.now() - begun,
      });
    } catch (error) {
      this.report({ type: 'failed', call, reason: `the model failed: ${nativeMessageOf(error)}` });
    }
  }
}
