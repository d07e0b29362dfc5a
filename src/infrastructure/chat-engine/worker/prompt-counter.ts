import { type ChatRequest, chatLimits } from '../../../domain/chat/chat.js';
import type { Order, Report } from '../protocol.js';
import { BrokenModel } from './broken-model.js';
import { RefusedMessages } from './chat-template.js';
import { type ModelFiles, readModelFiles } from './model-files.js';
import { type Prompt, Prompts } from './prompts.js';
import { StepsInTurns } from './steps-in-turns.js';

/** Whose prompt is longer than so many contexts isn't told by how much: it is counted no further. */
const COUNTED_CONTEXTS = 2;

type CountOrder = Extract<Order, { type: 'count' }>;
export type CounterOrder =
  | { readonly type: 'load'; readonly folder: string; readonly weights?: string | undefined }
  | Extract<Order, { type: 'count' | 'drop' }>;
export type CounterReport =
  /** With some tokens to try the model on. */
  | { readonly type: 'loaded'; readonly sample: readonly number[] }
  /** `room`: tokens that the answer may have. */
  | { readonly type: 'counted'; readonly call: number; readonly prompt: Int32Array; readonly room: number }
  | Extract<Report, { type: 'broken' | 'too_long' | 'refused' | 'failed' | 'dropped' }>;

/** Writes prompts and counts them, in turns, so that whoever asks much and long does not hold up others. */
export class PromptCounter {
  private model: { readonly prompts: Prompts; readonly context: number } | null = null;
  private readonly turns = new StepsInTurns();

  constructor(private readonly report: (report: CounterReport) => void) {}

  take(order: CounterOrder): void {
    switch (order.type) {
      case 'load':
        this.load(order);
        break;
      case 'count':
        this.turns.add(order.caller, order.call, this.count(order));
        break;
      case 'drop':
        this.turns.drop(order.call);
        this.report({ type: 'dropped', call: order.call });
    }
  }

  private load({ folder, weights }: Extract<CounterOrder, { type: 'load' }>): void {
    try {
      const files = readModelFiles(folder, weights);
      const context = contextOf(files);
      const prompts = new Prompts(files);
      this.model = { prompts, context };
      this.report({ type: 'loaded', sample: prompts.sample });
    } catch (error) {
      if (!(error instanceof BrokenModel)) throw error;
      this.report({ type: 'broken', reason: error.message });
    }
  }

  private *count({ call, request }: CountOrder): Generator<void, void> {
    if (!this.model) return;
    const { prompts, context } = this.model;
    try {
      const prompt = yield* prompts.of(request.messages, COUNTED_CONTEXTS * context);
      this.report(verdictOn(call, prompt, request, context));
    } catch (error) {
      // Other words than the template's own may quote the messages, and failures are logged.
      if (error instanceof RefusedMessages) this.report({ type: 'refused', call, message: error.message });
      else
        this.report({ type: 'failed', call, reason: 'the chat template or the tokenizer failed on these messages.' });
    }
  }
}

function verdictOn(call: number, prompt: Prompt, { maxTokens }: ChatRequest, context: number): CounterReport {
  const { tokens, whole } = prompt;
  const promptTokens = tokens.length;
  const left = context - promptTokens;
  if (left < (maxTokens ?? 1)) return { type: 'too_long', call, promptTokens, whole, context };
  const room = maxTokens ?? Math.min(chatLimits.defaultMaxTokens, left);
  return { type: 'counted', call, prompt: Int32Array.from(tokens), room };
}

function contextOf({ config, tokenizerConfig }: ModelFiles): number {
  const named = [config.max_position_embeddings, tokenizerConfig.model_max_length];
  // Tokenizers that have nothing to say write a number beyond all integers.
  const [context] = named.filter((length): length is number => Number.isSafeInteger(length) && Number(length) > 0);
  if (context === undefined)
    throw new BrokenModel('configuration', 'config.json names no max_position_embeddings: the context is unknown');
  return context;
}
