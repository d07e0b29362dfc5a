/** The thread that renders and tokenizes prompts, and refuses prompts that do not fit the context. */
import { parentPort } from 'node:worker_threads';
import { type ChatRequest, chatLimits } from '../../../domain/chat/chat.js';
import type { Order, Report } from '../protocol.js';
import { RefusedMessages } from './chat-template.js';
import { latestTurns } from './latest-turns.js';
import { BrokenModel, readModelFiles } from './model-files.js';
import { type Prompt, Prompts } from './prompts.js';
import type { CallForm } from './tools/call-form.js';
import { Turns } from './turns.js';

/** The tokens of a prompt are counted up to this multiple of the context. */
const COUNTED_CONTEXTS = 2;

type TokenizeOrder = Extract<Order, { type: 'tokenize' | 'count' }>;
export type TokenizerOrder =
  | { readonly type: 'load'; readonly folder: string; readonly weights?: string | undefined }
  | Extract<Order, { type: 'tokenize' | 'count' | 'cancel' }>;
export type TokenizerReport =
  /** `sample`: tokens for the trials of the model. `callForm` is null if the chat template does not know tools. */
  | { readonly type: 'loaded'; readonly sample: readonly number[]; readonly callForm: CallForm | null }
  /** `room`: the most tokens that the answer may have. */
  | { readonly type: 'tokenized'; readonly call: number; readonly prompt: Int32Array; readonly room: number }
  | Extract<Report, { type: 'counted' | 'broken' | 'too_long' | 'refused' | 'failed' | 'cancelled' }>;

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
      case 'count':
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
      this.report({ type: 'loaded', sample: prompts.sample, callForm: prompts.callForm });
    } catch (error) {
      if (!(error instanceof BrokenModel)) throw error;
      this.report({ type: 'broken', reason: error.message });
    }
  }

  private *tokenize({ type, call, request }: TokenizeOrder): Generator<void, void> {
    if (!this.model) return;
    const { prompts, context } = this.model;
    const unknown = Object.keys(request.sampling?.logitBias ?? {}).find((token) => !prompts.knows(token));
    if (unknown !== undefined) {
      this.report({
        type: 'refused',
        call,
        path: `logit_bias.${unknown}`,
        message: 'is not the id of a token of the model',
      });
      return;
    }
    try {
      const [text] = request.texts ?? [];
      const enough = COUNTED_CONTEXTS * context;
      let prompt = yield* text === undefined ? prompts.of(request, enough) : prompts.raw(text, enough);
      if (request.leaveOutOldest && prompt.tokens.length >= context)
        prompt = (yield* latestTurns(request, context, (shorter, most) => prompts.of(shorter, most))) ?? prompt;
      this.report(type === 'count' ? counted(call, prompt, context) : fitted(call, prompt, request, context));
    } catch (error) {
      // Reports only the text of a refusal by the template. Other errors may quote messages, and failures are logged.
      const reason = 'the chat template or the tokenizer failed on these messages.';
      // The caller's variables may hide what the template needs, such as a function.
      if (error instanceof RefusedMessages)
        this.report({ type: 'refused', call, path: request.texts ? 'prompt' : error.path, message: error.message });
      else if (request.templateFields)
        this.report({ type: 'refused', call, path: 'chat_template_kwargs', message: reason });
      else this.report({ type: 'failed', call, reason });
    }
  }
}

function counted(call: number, { tokens, whole }: Prompt, context: number): TokenizerReport {
  const promptTokens = tokens.length;
  return whole ? { type: 'counted', call, promptTokens } : { type: 'too_long', call, promptTokens, whole, context };
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

const thread = new TokenizerThread((report) =>
  parentPort?.postMessage(report, report.type === 'tokenized' ? [report.prompt.buffer as ArrayBuffer] : []),
);
parentPort?.on('message', (order: TokenizerOrder) => thread.take(order));
