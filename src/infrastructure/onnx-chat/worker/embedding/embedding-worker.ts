/** Passes orders to the two threads of an embedding model, and their reports to the service. */
import type { Order, Report } from '../../protocol.js';
import { Thread } from '../chat-worker.js';
import type { EncoderOrder, EncoderReport } from './encoder-thread.js';
import type { TextTokenizerOrder, TextTokenizerReport } from './text-tokenizer-thread.js';

type EmbedOrder = Extract<EncoderOrder, { type: 'embed' }>;

/** Logs nothing, because texts are private. */
export class EmbeddingWorker {
  private readonly tokenizer = new Thread<TextTokenizerOrder, TextTokenizerReport>(
    'embedding/text-tokenizer-thread.js',
    (report) => this.receive(report),
  );
  private readonly encoder = new Thread<EncoderOrder, EncoderReport>('embedding/encoder-thread.js', (report) =>
    this.report(report),
  );
  /** The callers of calls that are being tokenized and are not cancelled. */
  private readonly tokenizing = new Map<number, string>();
  /** Tokenized calls that wait for the order to embed. */
  private readonly tokenized = new Map<number, EmbedOrder>();

  constructor(private readonly report: (report: Report) => void) {}

  take(order: Order): void {
    switch (order.type) {
      case 'load':
        this.tokenizer.send({ type: 'load', folder: order.folder, weights: order.weights });
        this.encoder.send(order);
        break;
      case 'tokenize_texts':
      case 'count_texts':
        this.tokenizing.set(order.call, order.caller);
        this.tokenizer.send(order);
        break;
      case 'tokenize':
      case 'count': // the service sends no chats to an embedding model
        break;
      case 'generate':
        this.embed(order.call);
        break;
      case 'cancel':
        this.cancel(order);
    }
  }

  private embed(call: number): void {
    const order = this.tokenized.get(call);
    if (order) this.encoder.send(order, [order.tokens.buffer as ArrayBuffer]);
    this.tokenized.delete(call);
  }

  /** Cancels the call. Reports `cancelled` if the call waits for the order to embed. Else a thread reports it. */
  private cancel(order: Extract<Order, { type: 'cancel' }>): void {
    const { call } = order;
    if (this.tokenized.delete(call)) this.report({ type: 'cancelled', call });
    else if (this.tokenizing.delete(call)) this.tokenizer.send(order);
    else this.encoder.send(order);
  }

  private receive(report: TextTokenizerReport): void {
    if (report.type === 'loaded') this.encoder.send({ type: 'try', sample: report.sample, padding: report.padding });
    else if (report.type === 'tokenized') this.keep(report);
    else {
      if (report.type !== 'broken') this.tokenizing.delete(report.call);
      this.report(report);
    }
  }

  private keep({ call, tokens, lengths }: Extract<TextTokenizerReport, { type: 'tokenized' }>): void {
    const caller = this.tokenizing.get(call);
    if (caller === undefined) return; // cancelled meanwhile
    this.tokenizing.delete(call);
    this.tokenized.set(call, { type: 'embed', call, caller, tokens, lengths });
    this.report({ type: 'tokenized', call, promptTokens: tokens.length, room: 0 });
  }
}
