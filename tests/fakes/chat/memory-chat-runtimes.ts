import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ChatRuntimes, CountCall, RuntimeCall } from '../../../src/application/chat/ports.js';
import {
  type ChatRequest,
  type Completion,
  type CompletionPart,
  mostTokens,
  type ToolCall,
} from '../../../src/domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../../src/domain/chat/embedding.js';
import {
  ContextLengthExceeded,
  InferenceTimeout,
  RuntimeInvalidResponse,
  RuntimeLoading,
  RuntimeStopped,
  RuntimeUnavailable,
  UnsupportedParameter,
  WrongTask,
} from '../../../src/domain/chat/errors.js';
import { type OptionalField, requireSupported } from '../../../src/domain/chat/request-field.js';
import type { RuntimeFigures, RuntimeSource, RuntimeStatus } from '../../../src/domain/chat/runtime.js';
import type { JsonObject } from '../../../src/domain/workspace/json.js';
import { type Cost, FairQueue, WaitEstimate } from '../../../src/infrastructure/chat-runtimes/fair-queue.js';
import { RuntimeMeter } from '../../../src/infrastructure/chat-runtimes/runtime-meter.js';

const EVERY_FIELD = { has: () => true } as unknown as ReadonlySet<OptionalField>;

export interface AnswerWithCalls {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
}

/** Stands for a model. A word is a token. */
export interface MemoryModel {
  /** Resolves when the model is loaded. Rejects with the reason if it cannot be loaded. Default: resolves at once. */
  load?(): Promise<void>;
  /** Returns the answer: a string, or an `AnswerWithCalls`. Other values are no completion. Default: the question. */
  answer?(request: ChatRequest, signal: AbortSignal): unknown;
  /** Yields the parts of a stream, in place of the words of `answer`. */
  parts?(request: ChatRequest, signal: AbortSignal): AsyncIterable<CompletionPart>;
  /**
   * Present for a model that makes embeddings. Returns a vector for each text; another number of vectors is an invalid
   * answer. Default: vectors of the words.
   */
  embed?(texts: readonly string[], signal: AbortSignal): unknown;
}

export interface MemoryChatRuntimesSettings {
  readonly queue: number;
  readonly timeoutMs: number;
  readonly context: number;
  readonly restartMs: number;
}

export interface MemorySource extends RuntimeSource {
  readonly model: string;
}

interface Runtime {
  readonly source: MemorySource;
  readonly queue: FairQueue;
  readonly meter: RuntimeMeter;
  /** Aborted when the runtime ends, with the error for all callers. */
  readonly end: AbortController;
  status: RuntimeStatus;
}

/** Runs models in memory that load at once and answer by a rule. */
export class MemoryChatRuntimes implements ChatRuntimes {
  private readonly runtimes = new Map<string, Runtime>();
  private readonly settings: MemoryChatRuntimesSettings;
  private closed = false;

  constructor(
    /** The models by their names. Other models have the default behaviour. */
    private readonly models: Readonly<Record<string, MemoryModel>> = {},
    settings: Partial<MemoryChatRuntimesSettings> = {},
    readonly kind = 'memory',
  ) {
    this.settings = { queue: 8, timeoutMs: 60_000, context: 256, restartMs: 10, ...settings };
  }

  requireFields(): void {}

  /** Accepts any spec. `path` or `model` names the model. */
  async source({ path, model }: JsonObject): Promise<MemorySource> {
    return { kind: this.kind, model: String(path ?? model) };
  }

  requireRoom(): void {}

  start(id: string, source: MemorySource): void {
    if (this.closed) return;
    const runtime = this.runtimes.get(id);
    if (runtime && isDeepStrictEqual(runtime.source, source) && runtime.status.state !== 'unavailable') return;
    runtime?.end.abort(new RuntimeLoading());
    this.begin(id, source);
  }

  async stop(id: string): Promise<void> {
    const runtime = this.runtimes.get(id);
    this.runtimes.delete(id);
    runtime?.end.abort(new RuntimeStopped());
    await nextTurn();
  }

  status(id: string): RuntimeStatus {
    return this.runtimes.get(id)?.status ?? { state: 'stopped', reason: null };
  }

  figures(): Map<string, RuntimeFigures> {
    return new Map([...this.runtimes].map(([id, { meter, queue }]) => [id, meter.figures(queue)]));
  }

  async complete(id: string, sent: ChatRequest, { caller, signal, admitted }: RuntimeCall): Promise<Completion> {
    const request = requireSupported(sent, EVERY_FIELD);
    const runtime = this.ready(id, signal);
    if (this.modelOf(runtime).embed) throw new WrongTask('embedding');
    const promptTokens = this.count(request);
    const { texts, choices = 1 } = request;
    const answers = choices * (texts?.length ?? 1);
    const cost = { caller, tokens: promptTokens + answers * mostTokens(request) };
    return this.call(runtime, cost, signal, async (ended) => {
      admitted?.();
      const text = (await this.modelOf(runtime).answer?.(request, ended)) ?? echo(request);
      const [first, tokens] = this.completion(request, promptTokens, text);
      const others = Array.from({ length: answers - 1 }, () => first);
      const completionTokens = answers * (tokens - promptTokens);
      const all = { ...first, others, usage: { promptTokens, cachedTokens: 0, completionTokens } };
      const answer: [Completion, number] = answers > 1 ? [all, promptTokens + completionTokens] : [first, tokens];
      runtime.meter.answered({ usage: answer[0].usage, waitedMs: 0, firstTokenMs: null, tookMs: 0 });
      return answer;
    });
  }

  async embed(id: string, { texts, dimensions, verbatim }: EmbeddingRequest, about: RuntimeCall): Promise<Embeddings> {
    verbatim?.requireUnderstood();
    const { caller, signal, admitted } = about;
    if (dimensions !== undefined) throw new UnsupportedParameter('dimensions', 'is not supported by this model');
    const runtime = this.ready(id, signal);
    const { embed } = this.modelOf(runtime);
    if (!embed) throw new WrongTask('chat');
    const { context } = this.settings;
    const counts = texts.map((text) => wordsOf(text).length);
    const index = counts.findIndex((tokens) => tokens > context);
    const tokens = counts[index] ?? 0;
    if (index >= 0) throw ContextLengthExceeded.ofText({ index, context, tokens, whole: true });
    const promptTokens = counts.reduce((sum, count) => sum + count, 0);
    return this.call(runtime, { caller, tokens: promptTokens }, signal, async (ended) => {
      admitted?.();
      const vectors = (await embed(texts, ended)) ?? texts.map(vectorOf);
      if (!Array.isArray(vectors) || vectors.length !== texts.length)
        throw new RuntimeInvalidResponse('it is no list of embeddings.');
      const usage = { promptTokens, cachedTokens: 0, completionTokens: 0 };
      runtime.meter.answered({ usage, waitedMs: 0, firstTokenMs: null, tookMs: 0 });
      return [{ vectors, promptTokens }, promptTokens];
    });
  }

  async countTokens(id: string, sent: ChatRequest, { signal }: CountCall): Promise<number> {
    const request = requireSupported(sent, EVERY_FIELD);
    if (this.modelOf(this.ready(id, signal)).embed) throw new WrongTask('embedding');
    return heardBy(request).flatMap(wordsOf).length;
  }

  boundTokens(id: string, request: ChatRequest, call: CountCall): Promise<number> {
    return this.countTokens(id, request, call);
  }

  async boundTextTokens(id: string, { texts }: EmbeddingRequest, { signal }: CountCall): Promise<number> {
    if (!this.modelOf(this.ready(id, signal)).embed) throw new WrongTask('chat');
    return texts.flatMap(wordsOf).length;
  }

  /** Yields the parts of the model, or its answer word by word. */
  async *stream(id: string, request: ChatRequest, call: RuntimeCall): AsyncGenerator<CompletionPart> {
    const runtime = this.runtimes.get(id);
    const parts = runtime && this.modelOf(runtime).parts?.(request, call.signal);
    if (parts) {
      call.admitted?.();
      yield* parts;
      return;
    }
    const { text, toolCalls = [], others = [], ...end } = await this.complete(id, request, call);
    const { finishReason } = end;
    if (others.length > 0)
      for (const choice of [0, ...others.keys()].map((_, i) => i)) yield { text, choice, ended: { finishReason } };
    else for (const word of text.split(/(?= )/)) yield { text: word };
    for (const [index, called] of toolCalls.entries()) {
      yield { text: '', toolCalls: [{ index, ...called, arguments: '' }] };
      for (const some of called.arguments.split(/(?=:)/)) yield { text: '', toolCalls: [{ index, arguments: some }] };
    }
    yield { text: '', end };
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.runtimes.keys()].map((id) => this.stop(id)));
  }

  /** Ends the runtime as a fault would. It restarts after `restartMs`. */
  crash(id: string, reason = 'it crashed'): void {
    const runtime = this.runtimes.get(id);
    if (!runtime) return;
    runtime.status = { state: 'unavailable', reason };
    runtime.end.abort(new RuntimeUnavailable(reason));
    setTimeout(() => {
      if (this.runtimes.get(id) === runtime) this.begin(id, runtime.source, runtime.meter);
    }, this.settings.restartMs);
  }

  /** Counts the runtimes that load or are ready. */
  get running(): number {
    return [...this.runtimes.values()].filter(({ status }) => status.state !== 'unavailable').length;
  }

  private ready(id: string, signal: AbortSignal): Runtime {
    signal.throwIfAborted();
    const runtime = this.runtimes.get(id);
    if (!runtime) throw new RuntimeStopped();
    const { state, reason } = runtime.status;
    if (state === 'loading') throw new RuntimeLoading();
    if (state === 'unavailable') throw new RuntimeUnavailable(String(reason));
    return runtime;
  }

  /** Runs `work` when its turn has come, with a time limit. */
  private async call<T>(
    runtime: Runtime,
    cost: Cost,
    signal: AbortSignal,
    work: (ended: AbortSignal) => Promise<[T, number]>,
  ): Promise<T> {
    const overtime = new AbortController();
    const late = () => overtime.abort(new InferenceTimeout(this.settings.timeoutMs / 1_000));
    const timer = setTimeout(late, this.settings.timeoutMs);
    const ended = AbortSignal.any([signal, runtime.end.signal, overtime.signal]);
    try {
      return await runtime.queue.run(cost, ended, () => work(ended));
    } finally {
      clearTimeout(timer);
    }
  }

  private modelOf({ source }: Runtime): MemoryModel {
    return this.models[source.model] ?? {};
  }

  private begin(id: string, source: MemorySource, meter = new RuntimeMeter()): void {
    const queue = new FairQueue(1, this.settings.queue, new WaitEstimate());
    const status = { state: 'loading', reason: null } as const;
    const runtime: Runtime = { source, queue, meter, end: new AbortController(), status };
    this.runtimes.set(id, runtime);
    void this.load(runtime);
  }

  private async load(runtime: Runtime): Promise<void> {
    try {
      await nextTurn();
      const { load, embed } = this.modelOf(runtime);
      await load?.();
      if (!runtime.end.signal.aborted)
        runtime.status = { state: 'ready', reason: null, ...(embed && { task: 'embedding' as const }) };
    } catch (error) {
      runtime.status = { state: 'unavailable', reason: error instanceof Error ? error.message : String(error) };
    }
  }

  private count(request: ChatRequest): number {
    const { context } = this.settings;
    const { maxTokens, cutToContext } = request;
    const promptTokens = heardBy(request).flatMap(wordsOf).length;
    if (promptTokens + (cutToContext ? 1 : (maxTokens ?? 1)) > context)
      throw ContextLengthExceeded.of({ context, promptTokens, maxTokens });
    return promptTokens;
  }

  private completion({ maxTokens }: ChatRequest, promptTokens: number, text: unknown): [Completion, number] {
    if (hasCalls(text)) {
      const usage = { promptTokens, cachedTokens: 0, completionTokens: text.toolCalls.length };
      return [{ ...text, finishReason: 'tool_calls', usage }, promptTokens + usage.completionTokens];
    }
    if (typeof text !== 'string') throw new RuntimeInvalidResponse('its answer is not a completion.');
    const words = wordsOf(text);
    const room = Math.min(maxTokens ?? Number.POSITIVE_INFINITY, this.settings.context - promptTokens);
    const completionTokens = Math.min(words.length, room);
    const usage = { promptTokens, cachedTokens: 0, completionTokens };
    const cut = { text: words.slice(0, room).join(' '), finishReason: 'length', usage } as const;
    const whole = { text, finishReason: 'stop', usage } as const;
    return [words.length <= room ? whole : cut, promptTokens + completionTokens];
  }
}

const hasCalls = (answer: unknown): answer is AnswerWithCalls =>
  typeof answer === 'object' && answer !== null && 'toolCalls' in answer;

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** Counts the words by their lengths modulo 4. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(4).fill(0.25);
  for (const { length } of wordsOf(text)) vector[length % 4] = (vector[length % 4] as number) + 1;
  return vector;
}

const heardBy = ({ texts, messages }: ChatRequest): readonly string[] =>
  texts ?? messages.map(({ content }) => content);

const echo = (request: ChatRequest): string => heardBy(request).at(-1) ?? '';
