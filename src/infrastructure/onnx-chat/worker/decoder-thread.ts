/** The thread that holds the model and generates answers. During a step of the model it does nothing else. */
import { parentPort } from 'node:worker_threads';
import type { ChatRequest } from '../../../domain/chat/chat.js';
import { nativeMessageOf } from '../../onnx/onnx-runtime.js';
import type { Order, Part, Report } from '../protocol.js';
import { type AnswerPart, AnswerText } from './answer-text.js';
import { type LoadedModel, loadModel, type ReadyModel, tryModel } from './chat-model.js';
import type { Scores } from './decoder.js';
import type { SequenceOrder, Tokens } from './grammar/grammar-thread.js';
import { Constraint, NoMask } from './grammar/mask.js';
import { logprobOf } from './logprobs.js';
import { BrokenModel } from './model-files.js';
import { Sampler } from './sampler.js';
import type { CallForm } from './tools/call-form.js';
import { type CallStart, callReader, textsOf } from './tools/call-reader.js';

export interface GenerateOrder extends Pick<ChatRequest, 'temperature' | 'sampling'> {
  readonly type: 'generate';
  readonly call: number;
  readonly caller: string;
  readonly stream: boolean;
  readonly prompt: Int32Array;
  readonly room: number;
  /** Absent: the answer may be any text. */
  readonly form?: SequenceOrder | undefined;
  /** The texts with which tool calls may begin. Absent: the answer is only text. */
  readonly calls?: CallStart | undefined;
}

export type DecoderOrder =
  | Extract<Order, { type: 'load' | 'cancel' }>
  /** Runs the loaded model on some tokens, and reports `ready` or `broken`. */
  | { readonly type: 'try'; readonly sample: readonly number[]; readonly callForm: CallForm | null }
  | GenerateOrder;
export type DecoderReport =
  /** The thread sends this before `ready`. */
  | ({ readonly type: 'vocabulary' } & Tokens)
  | Extract<Report, { type: 'ready' | 'broken' | 'parts' | 'completed' | 'refused' | 'failed' | 'cancelled' }>;

class DecoderThread {
  private loading: Promise<LoadedModel> | null = null;
  private model: ReadyModel | null = null;
  /** The form in which the model calls tools. Null: its chat template does not know tools. */
  private callForm: CallForm | null = null;
  /** The added tokens that tool calls, and text beside them, may contain. */
  private added: ReadonlyMap<number, string> = new Map();
  /** The parts of the present step. */
  private parts: Part[] = [];

  constructor(private readonly report: (report: DecoderReport) => void) {}

  async take(order: DecoderOrder): Promise<void> {
    switch (order.type) {
      case 'load': {
        const { type: _, folder, threads, ...settings } = order;
        this.loading = loadModel(folder, threads, settings);
        this.loading.catch(() => undefined); // `try` reports the error, because errors of the tokenizer come first
        return;
      }
      case 'try':
        this.callForm = order.callForm;
        return this.try(order.sample);
      case 'generate':
        return this.generate(order);
      case 'cancel':
        return this.report({ type: 'cancelled', call: order.call, ...this.model?.scheduler.cancel(order.call) });
    }
  }

  private async try(sample: readonly number[]): Promise<void> {
    if (!this.loading) return;
    try {
      this.model = await tryModel(await this.loading, sample);
      const { vocabulary, maxBatch, reuse, context } = this.model;
      if (this.callForm) this.added = vocabulary.addedPieces(textsOf(this.callForm));
      const pieces = vocabulary.pieces();
      this.report({ type: 'vocabulary', pieces, added: this.added, stops: [...vocabulary.stops] });
      this.report({ type: 'ready', task: 'chat', maxBatch, reuse, context });
    } catch (error) {
      if (!(error instanceof BrokenModel)) throw error;
      this.report({ type: 'broken', reason: error.message });
    }
  }

  private async generate(order: GenerateOrder): Promise<void> {
    if (!this.model) return;
    const { call, caller, prompt, room, stream, form } = order;
    const { scheduler, vocabulary } = this.model;
    const began = performance.now();
    const calls = order.calls && this.callForm ? callReader(order.calls, this.callForm) : undefined;
    const kept = calls && new Set(this.added.keys());
    const decode = (tokens: readonly number[]) => vocabulary.decode(tokens, kept);
    const text = new AnswerText({ decode, stop: order.sampling?.stop, ...(calls && { calls }) });
    const read = [...prompt];
    const sampler = new Sampler(order.temperature ?? 0, order.sampling, undefined, read);
    const constraint = form && new Constraint(form.memory, form.port);
    const choose = (scores: Scores) => {
      const allowed = constraint?.allowed();
      // A model without an end token can't choose to end. Its answer ends once the grammar allows no further token.
      return allowed?.every((bits) => bits === 0) ? null : sampler.next(scores, allowed);
    };
    const { topLogprobs: top } = order.sampling ?? {};
    const bytesOf = (token: number) => vocabulary.bytesOf(token);
    const add = (token: number, scores: Scores) => {
      text.add(token, top === undefined ? undefined : logprobOf(scores, token, top, bytesOf));
      if (!text.stopped) constraint?.accept(token);
      if (stream && !text.stopped) this.send(call, text.take());
      return text.stopped;
    };
    const late = () => constraint?.late() ?? null;
    try {
      const answer = await scheduler.generate(call, { caller, prompt: read, room, late, choose, add });
      if (!answer) return;
      const { tokens, finishReason, cachedTokens, firstTokenMs, betweenTokensMs } = answer;
      text.end(finishReason === 'length');
      this.report({
        type: 'completed',
        call,
        ...(top !== undefined && { logprobs: [] }),
        ...text.take(),
        finishReason: finishReason === 'stop' && text.isCall ? 'tool_calls' : finishReason,
        ...(text.stopText !== undefined && { stopText: text.stopText }),
        promptTokens: prompt.length,
        cachedTokens,
        completionTokens: tokens.length,
        firstTokenMs,
        betweenTokensMs,
        tookMs: performance.now() - began,
      });
    } catch (error) {
      if (form && error instanceof NoMask)
        this.report({ type: 'refused', call, path: form.path, message: error.message });
      else this.report({ type: 'failed', call, reason: `the model failed: ${nativeMessageOf(error)}` });
    } finally {
      constraint?.close();
    }
  }

  /** Sends all parts of one step in one message, before the report `completed` of any of these answers. */
  private send(call: number, part: AnswerPart): void {
    if (part.text === '' && !part.toolCalls) return;
    if (this.parts.length === 0)
      queueMicrotask(() => {
        this.report({ type: 'parts', parts: this.parts });
        this.parts = [];
      });
    this.parts.push({ call, ...part });
  }
}

const thread = new DecoderThread((report) => parentPort?.postMessage(report));
parentPort?.on('message', (order: DecoderOrder) => void thread.take(order));
