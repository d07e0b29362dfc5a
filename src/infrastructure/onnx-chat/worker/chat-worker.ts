/** Passes orders to the threads of a chat worker, and their reports to the service. The main thread is always free. */
import { join } from 'node:path';
import { type TransferListItem, Worker } from 'node:worker_threads';
import type { Order, Report } from '../protocol.js';
import { answerFormOf, callStartOf } from './answer-form.js';
import type { DecoderOrder, DecoderReport, GenerateOrder } from './decoder-thread.js';
import { Grammars } from './grammar/grammars.js';
import type { TokenizerOrder, TokenizerReport } from './tokenizer-thread.js';
import type { CallForm } from './tools/call-form.js';

/** Logs nothing, because questions and answers are private. */
export class ChatWorker {
  private readonly tokenizer = new Thread<TokenizerOrder, TokenizerReport>('tokenizer-thread.js', (report) =>
    this.receive(report),
  );
  private readonly decoder = new Thread<DecoderOrder, DecoderReport>('decoder-thread.js', (report) => {
    if (report.type === 'vocabulary') this.grammars = new Grammars(report);
    else this.report(report);
  });
  /** Calls that wait for their grammar or are being tokenized, and are not cancelled. */
  private readonly tokenizing = new Map<number, Omit<GenerateOrder, 'prompt' | 'room'>>();
  private readonly counting = new Set<number>();
  /** Tokenized calls that wait for the order to generate. */
  private readonly tokenized = new Map<number, GenerateOrder>();

  private grammars: Grammars | null = null;
  /** The form in which the model calls tools. Null: its chat template does not know tools. */
  private callForm: CallForm | null = null;

  constructor(private readonly send: (report: Report) => void) {}

  take(order: Order): void {
    switch (order.type) {
      case 'load':
        this.tokenizer.send({ type: 'load', folder: order.folder, weights: order.weights });
        this.decoder.send(order);
        break;
      case 'tokenize': {
        const { call, caller, stream, request } = order;
        const { temperature, sampling } = request;
        const form = answerFormOf(request, this.callForm);
        const calls = form ? callStartOf(form) : undefined;
        this.tokenizing.set(call, { type: 'generate', call, caller, stream, temperature, sampling, calls });
        if (form)
          this.grammars?.prepare(call, caller, form, (refusal) => {
            if (refusal) {
              this.tokenizing.delete(call);
              this.report(refusal);
            } else if (this.tokenizing.has(call)) this.tokenizer.send(order);
          });
        else this.tokenizer.send(order);
        break;
      }
      case 'count':
        this.counting.add(order.call);
        this.tokenizer.send(order);
        break;
      case 'generate':
        this.generate(order.call);
        break;
      case 'cancel':
        this.cancel(order);
    }
  }

  private generate(call: number): void {
    const order = this.tokenized.get(call);
    this.tokenized.delete(call);
    if (!order) return;
    const form = this.grammars?.open(call);
    if (form === null) this.report({ type: 'failed', call, reason: 'the grammar of its answer is gone.' });
    else this.decoder.send({ ...order, form }, [order.prompt.buffer as ArrayBuffer, ...(form ? [form.port] : [])]);
  }

  private report(report: Report): void {
    if ('call' in report && report.type !== 'tokenized')
      this.grammars?.release(report.call, report.type === 'completed');
    this.send(report.type === 'ready' ? { ...report, tools: this.callForm !== null } : report);
  }

  /** Cancels the call. Reports `cancelled` if the call waits for the order to generate. Else a thread reports it. */
  private cancel(order: Extract<Order, { type: 'cancel' }>): void {
    const { call } = order;
    if (this.tokenized.delete(call)) this.report({ type: 'cancelled', call });
    else if (this.tokenizing.delete(call) || this.counting.delete(call)) this.tokenizer.send(order);
    else this.decoder.send(order);
  }

  private receive(report: TokenizerReport): void {
    if (report.type === 'loaded') {
      const { sample, callForm } = report;
      this.callForm = callForm;
      this.decoder.send({ type: 'try', sample, callForm });
    } else if (report.type === 'tokenized') this.keep(report);
    else {
      if (report.type !== 'broken') {
        this.tokenizing.delete(report.call);
        this.counting.delete(report.call);
      }
      this.report(report);
    }
  }

  private keep({ call, prompt, room }: Extract<TokenizerReport, { type: 'tokenized' }>): void {
    const order = this.tokenizing.get(call);
    if (!order) return; // cancelled meanwhile
    this.tokenizing.delete(call);
    this.tokenized.set(call, { ...order, prompt, room });
    this.report({ type: 'tokenized', call, promptTokens: prompt.length, room });
  }
}

/** A thread of this process. If it ends, the process ends with its error. */
export class Thread<Order, Report> {
  private readonly worker: Worker;

  /** `program` is a path relative to the folder of this file. */
  constructor(program: string, receive: (report: Report) => void) {
    this.worker = new Worker(join(__dirname, program));
    this.worker.on('message', receive);
    let failure: unknown;
    // Without a listener for `error`, Node throws the error in a later tick, perhaps only after `exit`.
    this.worker.once('error', (error) => {
      failure = error;
    });
    this.worker.once('exit', (code) => {
      throw failure ?? new Error(`a thread ended with code ${code}`);
    });
  }

  /** Sends an order. Moves the memory in `transfer` to the thread. */
  send(order: Order, transfer: readonly TransferListItem[] = []): void {
    this.worker.postMessage(order, transfer);
  }
}
