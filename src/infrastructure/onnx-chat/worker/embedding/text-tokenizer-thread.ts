/** The thread that tokenizes the texts of an embedding model, and refuses texts that do not fit its context. */
import { parentPort } from 'node:worker_threads';
import { Tokenizer } from '@huggingface/tokenizers';
import type { Order, Report } from '../../protocol.js';
import { BrokenModel } from '../model-files.js';
import { usingTokenizer } from '../tokenizers.js';
import { Turns } from '../turns.js';
import { readEmbeddingFiles } from './embedding-files.js';

/** Every model reads this text before it is ready. */
const SAMPLE = 'The quick brown fox jumps over the lazy dog.';

/** After about this many tokens, another call has its turn. */
const TOKENS_PER_STEP = 256;

/** If a text has more characters than this for each token of the context, only its beginning is tokenized at first. */
const CHARACTERS_PER_TOKEN = 32;

type TokenizeOrder = Extract<Order, { type: 'tokenize_texts' | 'count_texts' }>;
export type TextTokenizerOrder =
  | { readonly type: 'load'; readonly folder: string; readonly weights?: string | undefined }
  | TokenizeOrder
  | Extract<Order, { type: 'cancel' }>;
export type TextTokenizerReport =
  /** `sample`: tokens for the trial of the model. `padding`: the token that pads a row. */
  | { readonly type: 'loaded'; readonly sample: readonly number[]; readonly padding: number }
  /** `tokens`: the tokens of all texts, one after another. */
  | { readonly type: 'tokenized'; readonly call: number; readonly tokens: Int32Array; readonly lengths: number[] }
  | Extract<Report, { type: 'broken' | 'counted' | 'too_long' | 'refused' | 'failed' | 'cancelled' }>;

class TextTokenizerThread {
  private model: { readonly tokenizer: Tokenizer; readonly context: number } | null = null;
  private readonly turns = new Turns();

  constructor(private readonly report: (report: TextTokenizerReport) => void) {}

  take(order: TextTokenizerOrder): void {
    switch (order.type) {
      case 'load':
        this.load(order);
        break;
      case 'tokenize_texts':
      case 'count_texts':
        this.turns.add(order.caller, order.call, this.tokenize(order));
        break;
      case 'cancel':
        this.turns.remove(order.call);
        this.report({ type: 'cancelled', call: order.call });
    }
  }

  private load({ folder, weights }: Extract<TextTokenizerOrder, { type: 'load' }>): void {
    try {
      const files = readEmbeddingFiles(folder, weights);
      const { tokenizer: json, tokenizerConfig, context } = files;
      const tokenizer = usingTokenizer(() => new Tokenizer(json, tokenizerConfig));
      const sample = usingTokenizer(() => tokensOf(tokenizer, SAMPLE));
      if (sample.length === 0) throw new BrokenModel('tokenizer', 'tokenizer.json makes no tokens');
      const { pad_token: pad } = tokenizerConfig;
      const padding = typeof pad === 'string' ? (tokenizer.token_to_id(pad) ?? 0) : 0;
      this.model = { tokenizer, context };
      this.report({ type: 'loaded', sample, padding });
    } catch (error) {
      if (!(error instanceof BrokenModel)) throw error;
      this.report({ type: 'broken', reason: error.message });
    }
  }

  private *tokenize({ type, call, texts }: TokenizeOrder): Generator<void, void> {
    if (!this.model) return;
    const { tokenizer, context } = this.model;
    const all: number[] = [];
    const lengths: number[] = [];
    let next = TOKENS_PER_STEP;
    try {
      for (const [index, text] of texts.entries()) {
        const { tokens, whole } = counted(tokenizer, text, context);
        if (tokens.length > context) {
          this.report({ type: 'too_long', call, promptTokens: tokens.length, whole, context, index });
          return;
        }
        if (tokens.length === 0) {
          const message = `has a text at index ${index} that has no tokens for this model`;
          this.report({ type: 'refused', call, path: 'input', message });
          return;
        }
        for (const token of tokens) all.push(token);
        lengths.push(tokens.length);
        if (all.length < next) continue;
        next = all.length + TOKENS_PER_STEP;
        yield;
      }
      if (type === 'count_texts') this.report({ type: 'counted', call, promptTokens: all.length });
      else this.report({ type: 'tokenized', call, tokens: Int32Array.from(all), lengths });
    } catch {
      // The errors of the library may quote the texts, and failures are logged.
      this.report({ type: 'failed', call, reason: 'the tokenizer failed on these texts.' });
    }
  }
}

/** Returns the tokens of a text. Returns only those of its beginning if the beginning is already too long. */
function counted(tokenizer: Tokenizer, text: string, context: number) {
  const enough = CHARACTERS_PER_TOKEN * context;
  const start = tokensOf(tokenizer, text.slice(0, enough));
  const whole = text.length <= enough;
  return whole || start.length > context
    ? { tokens: start, whole }
    : { tokens: tokensOf(tokenizer, text), whole: true };
}

/** Returns the tokens of a text, with the special tokens. Throws if a word has no token. */
function tokensOf(tokenizer: Tokenizer, text: string): number[] {
  const { ids } = tokenizer.encode(text);
  if (!ids.every(Number.isSafeInteger)) throw new Error('it has no token for some of the text');
  return ids;
}

const thread = new TextTokenizerThread((report) =>
  parentPort?.postMessage(report, report.type === 'tokenized' ? [report.tokens.buffer as ArrayBuffer] : []),
);
parentPort?.on('message', (order: TextTokenizerOrder) => thread.take(order));
