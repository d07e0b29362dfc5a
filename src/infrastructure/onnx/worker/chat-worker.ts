import { type ChatRequest, chatLimits } from '../../../domain/chat/chat.js';
import type { Order, Report } from '../protocol.js';
import { BrokenModel } from './broken-model.js';
import { type ChatModel, loadChatModel } from './chat-model.js';
import { RefusedMessages } from './chat-template.js';
import { nativeWords } from './native-words.js';
import type { Generation } from './scheduler.js';

type LoadOrder = Extract<Order, { type: 'load' }>;
type CountOrder = Extract<Order, { type: 'count' }>;

/** Does what the service orders, and logs nothing: what people ask and get is theirs. */
export class ChatWorker {
  private model: ChatModel | null = null;
  /** Calls that are counted, and that somebody still waits for. */
  private readonly calls = new Map<number, Generation>();

  constructor(private readonly report: (report: Report) => void) {}

  async take(order: Order): Promise<void> {
    switch (order.type) {
      case 'load':
        return this.load(order);
      case 'count':
        return this.count(order);
      case 'generate':
        return this.answer(order.call);
      case 'drop':
        this.calls.delete(order.call);
        this.model?.scheduler.drop(order.call);
        return this.report({ type: 'dropped', call: order.call });
    }
  }

  private async load({ folder, threads, ...settings }: LoadOrder): Promise<void> {
    try {
      this.model = await loadChatModel(folder, threads, settings);
      this.report({ type: 'ready', maxBatch: this.model.maxBatch });
    } catch (error) {
      if (!(error instanceof BrokenModel)) throw error;
      this.report({ type: 'broken', reason: error.message });
    }
  }

  private count({ call, caller, request }: CountOrder): void {
    const { messages, maxTokens, temperature } = request;
    const prompt = this.encode(call, messages);
    if (!prompt || !this.model) return;
    const { context } = this.model;
    const promptTokens = prompt.length;
    const left = context - promptTokens;
    if (left < (maxTokens ?? 1)) {
      this.report({ type: 'too_long', call, promptTokens, context });
      return;
    }
    const room = maxTokens ?? Math.min(chatLimits.defaultMaxTokens, left);
    this.calls.set(call, { caller, prompt, room, temperature });
    this.report({ type: 'counted', call, promptTokens });
  }

  private encode(call: number, messages: ChatRequest['messages']): number[] | null {
    try {
      return this.model?.encode(messages) ?? null;
    } catch (error) {
      // Other words than the template's own may quote the messages, and failures are logged.
      if (error instanceof RefusedMessages) this.report({ type: 'refused', call, message: error.message });
      else
        this.report({ type: 'failed', call, reason: 'the chat template or the tokenizer failed on these messages.' });
      return null;
    }
  }

  private async answer(call: number): Promise<void> {
    const counted = this.calls.get(call);
    if (!counted || !this.model) return;
    const begun = performance.now();
    try {
      const answer = await this.model.scheduler.generate(call, counted);
      if (!answer) return;
      const { tokens, finishReason, cachedTokens, firstTokenMs } = answer;
      this.report({
        type: 'completed',
        call,
        text: this.model.decode(tokens, finishReason === 'length'),
        finishReason,
        promptTokens: counted.prompt.length,
        cachedTokens,
        completionTokens: tokens.length,
        firstTokenMs,
        tookMs: performance.now() - begun,
      });
    } catch (error) {
      this.report({ type: 'failed', call, reason: `the model failed: ${nativeWords(error)}` });
    } finally {
      this.calls.delete(call);
    }
  }
}
