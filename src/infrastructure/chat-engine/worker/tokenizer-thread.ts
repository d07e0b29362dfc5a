/** The thread that renders and tokenizes prompts, and refuses those that do not fit the context. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { type ChatRequest, chatLimits } from '../../../domain/chat/chat.js';
import type { Order, Report } from '../protocol.js';
import { BrokenModel, readModelFiles } from './model-files.js';
import { type Prompt, Prompts, RefusedMessages } from './prompts.js';

/** A prompt longer than so many contexts is not counted to its end. */
const COUNTED_CONTEXTS = 2;

type TokenizeOrder = Extract<Order, { type: 'tokenize' }>;
export type TokenizerOrder =
  | { readonly type: 'load'; readonly folder: string; readonly weights?: string | undefined }
  | Extract<Order, { type: 'tokenize' | 'cancel' }>;
export type TokenizerReport =
  /** With some tokens to try the model on. */
  | { readonly type: 'loaded'; readonly sample: readonly number[] }
  /** `room`: tokens that the answer may have. */
  | { readonly type: 'tokenized'; readonly call: number; readonly prompt: Int32Array; readonly room: number }
  | Extract<Report, { type: 'broken' | 'too_long' | 'refused' | 'failed' | 'cancelled' }>;

export class TokenizerThread {
  private model: { readonly prompts: Prompts; readonly context: number } | null = null;
  private readonly turns = new Turns();

  constructor(private readonly report: (report: TokenizerReport) => void) {}

  take(order: TokenizerOrder): void {
    switch (order.type) {
      case 'load':
        this.load(order);
        break;
      case 'tokenize':
        this.turns.add(order.caller, order.call, this.tokenize(order));
        break;
      case 'cancel':
        this.turns.remove(order.call);
        this.report({ type: 'cancelled', call: order.call });
    }
  }

  private load({ folder, weights }: Extract<TokenizerOrder, { type: 'load' }>): void {
    try {
      const files = readModelFiles(folder, weights);
      const prompts = new Prompts(files);
      this.model = { prompts, context: files.context };
      this.report({ type: 'loaded', sample: prompts.sample });
    } catch (error) {
      if (!(error instanceof BrokenModel)) throw error;
      this.report({ type: 'broken', reason: error.message });
    }
  }

  private *tokenize({ call, request }: TokenizeOrder): Generator<void, void> {
    if (!this.model) return;
    const { prompts, context } = this.model;
    const unknown = Object.keys(request.sampling?.logitBias ?? {}).find((token) => !prompts.knows(token));
    if (unknown !== undefined) {
      this.report({ type: 'refused', call, path: `logit_bias.${unknown}`, message: "is no token of the model's" });
      return;
    }
    try {
      const prompt = yield* prompts.of(request.messages, COUNTED_CONTEXTS * context);
      this.report(fitted(call, prompt, request, context));
    } catch (error) {
      // Only the template's own words are passed on: others may quote the messages, and failures are logged.
      const reason = 'the chat template or the tokenizer failed on these messages.';
      if (error instanceof RefusedMessages)
        this.report({ type: 'refused', call, path: 'messages', message: error.message });
      else this.report({ type: 'failed', call, reason });
    }
  }
}

function fitted(call: number, { tokens, whole }: Prompt, request: ChatRequest, context: number): TokenizerReport {
  const promptTokens = tokens.length;
  const left = context - promptTokens;
  const { maxTokens, cutToContext } = request;
  const wanted = maxTokens ?? chatLimits.defaultMaxTokens;
  const least = cutToContext ? 1 : (maxTokens ?? 1);
  if (left < least) return { type: 'too_long', call, promptTokens, whole, context };
  return { type: 'tokenized', call, prompt: Int32Array.from(tokens), room: Math.min(wanted, left) };
}

interface Task {
  readonly call: number;
  readonly steps: Iterator<unknown>;
}

/**
 * Runs tasks step by step. Callers have a step of their first task in turns, so a caller with many long prompts does not
 * hold up others. Between any two steps the thread handles new messages.
 */
class Turns {
  /** The tasks of each caller in order of arrival. The first caller is the next. */
  private readonly tasks = new Map<string, Task[]>();
  private running = false;

  add(caller: string, call: number, steps: Iterator<unknown>): void {
    const own = this.tasks.get(caller);
    if (own) own.push({ call, steps });
    else this.tasks.set(caller, [{ call, steps }]);
    if (!this.running) void this.run();
  }

  remove(call: number): void {
    for (const [caller, own] of this.tasks) {
      const others = own.filter((task) => task.call !== call);
      if (others.length === own.length) continue;
      if (others.length > 0) this.tasks.set(caller, others);
      else this.tasks.delete(caller);
    }
  }

  private async run(): Promise<void> {
    this.running = true;
    for (;;) {
      await yieldToEventLoop();
      const [next] = this.tasks;
      if (!next) break;
      const [caller, own] = next;
      this.tasks.delete(caller);
      if (own[0]?.steps.next().done) own.shift();
      if (own.length > 0) this.tasks.set(caller, own);
    }
    this.running = false;
  }
}

const thread = new TokenizerThread((report) =>
  parentPort?.postMessage(report, report.type === 'tokenized' ? [report.prompt.buffer as ArrayBuffer] : []),
);
parentPort?.on('message', (order: TokenizerOrder) => thread.take(order));
