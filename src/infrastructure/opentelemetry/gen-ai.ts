/** Records chats and embeddings according to OpenTelemetry's semantic conventions for generative AI. */
import { type Attributes, metrics } from '@opentelemetry/api';
import type { RuntimeCall } from '../../application/chat/ports.js';
import type { Span, SpanAttributes, Tracer } from '../../application/shared/ports.js';
import type { ChatRequest, Completion, CompletionEnd, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import { type CalledRuntime, CallTelemetry } from '../chat-runtimes/call-telemetry.js';
import { steadyMs } from '../system/scheduling.js';
import { errorType } from './open-telemetry-tracer.js';

/** The conventions recommend the bounds of all histograms in this file. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_TOKEN_SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKEN_SECONDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];

/**
 * The most characters of all messages together, and again of the answer, in one span. Many spans wait in memory for the
 * collector.
 */
const MOST_CONTENT = 16_384;

export class GenAiTelemetry extends CallTelemetry {
  private readonly duration = histogram('gen_ai.client.operation.duration', 's', SECONDS);
  private readonly usage = histogram('gen_ai.client.token.usage', '{token}', TOKENS);
  private readonly answer = histogram('gen_ai.server.request.duration', 's', SECONDS);
  private readonly firstToken = histogram('gen_ai.server.time_to_first_token', 's', FIRST_TOKEN_SECONDS);
  private readonly eachToken = histogram('gen_ai.server.time_per_output_token', 's', TOKEN_SECONDS);

  constructor(
    private readonly tracer: Tracer,
    /** Also records the texts of messages and answers. */
    private readonly withContent: boolean,
  ) {
    super();
  }

  override async complete(
    runtime: CalledRuntime,
    request: ChatRequest,
    call: RuntimeCall,
    run: (call: RuntimeCall) => Promise<Completion>,
  ): Promise<Completion> {
    const observed = this.chat(runtime, request);
    const answer = await observed.step(() => run(observed.observing(call)));
    observed.ended(answer, answer.text);
    return answer;
  }

  override async embed(
    runtime: CalledRuntime,
    request: EmbeddingRequest,
    call: RuntimeCall,
    run: (call: RuntimeCall) => Promise<Embeddings>,
  ): Promise<Embeddings> {
    const observed = this.begin('embeddings', runtime, () => ({
      'gen_ai.embeddings.dimension.count': request.dimensions,
    }));
    const answer = await observed.step(() => run(observed.observing(call)));
    observed.embedded(answer);
    return answer;
  }

  override async *stream(
    runtime: CalledRuntime,
    request: ChatRequest,
    call: RuntimeCall,
    run: (call: RuntimeCall) => AsyncIterable<CompletionPart>,
  ): AsyncGenerator<CompletionPart> {
    const observed = this.chat(runtime, request);
    const parts = run(observed.observing(call))[Symbol.asyncIterator]();
    let text = '';
    try {
      for (;;) {
        const { done, value: part } = await observed.step(() => parts.next());
        if (done) return;
        observed.began();
        if (!part.choice) text = this.kept(text, part.text);
        if (part.end) observed.ended(part.end, text);
        yield part;
      }
    } finally {
      observed.failed('cancelled'); // if the call has not ended, the caller has left
      await parts.return?.();
    }
  }

  private chat(runtime: CalledRuntime, request: ChatRequest): ObservedCall {
    const { sampling = {}, maxTokens, temperature, responseFormat } = request;
    return this.begin('chat', runtime, () => ({
      'gen_ai.request.temperature': temperature ?? undefined,
      'gen_ai.request.max_tokens': maxTokens ?? undefined,
      'gen_ai.request.top_p': sampling.topP,
      'gen_ai.request.seed': sampling.seed,
      'gen_ai.request.frequency_penalty': sampling.frequencyPenalty,
      'gen_ai.request.presence_penalty': sampling.presencePenalty,
      'gen_ai.request.stop_sequences': sampling.stop && [...sampling.stop],
      'gen_ai.output.type': responseFormat ? 'json' : 'text',
      ...(this.withContent && { 'gen_ai.input.messages': contentOf(request.messages) }),
    }));
  }

  private begin(
    operation: string,
    { kind, project, model }: CalledRuntime,
    details: () => SpanAttributes,
  ): ObservedCall {
    const attributes = {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': kind,
      'gen_ai.request.model': project,
    };
    const span = this.tracer.start(`${operation} ${project}`, { kind: 'client', attributes });
    // Not an attribute of the metrics, whose time series would become too many.
    if (span.isRecorded) span.set({ 'tenon.model.id': model || undefined, ...details() });
    return new ObservedCall(this, span, attributes);
  }

  outputOf(text: string, finishReason: string): SpanAttributes {
    if (!this.withContent) return {};
    return { 'gen_ai.output.messages': contentOf([{ role: 'assistant', content: text }], finishReason) };
  }

  /** Returns `text` with `more` added. Adds nothing if texts are not recorded, or if `text` is already too long. */
  private kept(text: string, more: string): string {
    return this.withContent && text.length < MOST_CONTENT ? text + more : text;
  }

  measure(attributes: Attributes, { tookMs, firstTokenMs, tokenMs, usage, failure }: Measured): void {
    const outcome = failure === undefined ? attributes : { ...attributes, 'error.type': errorType(failure) };
    this.duration.record(tookMs / 1_000, outcome);
    this.answer.record(tookMs / 1_000, outcome);
    if (firstTokenMs !== undefined) this.firstToken.record(firstTokenMs / 1_000, attributes);
    if (tokenMs !== undefined) this.eachToken.record(tokenMs / 1_000, attributes);
    for (const [type, tokens] of Object.entries(usage ?? {}))
      if (tokens !== undefined) this.usage.record(tokens, { ...attributes, 'gen_ai.token.type': type });
  }
}

interface Measured {
  readonly tookMs: number;
  readonly firstTokenMs?: number | undefined;
  /** The mean time of each token after the first. */
  readonly tokenMs?: number | undefined;
  readonly usage?: { readonly input: number; readonly output?: number };
  readonly failure?: unknown;
}

const histogram = (name: string, unit: string, explicitBucketBoundaries: number[]) =>
  metrics.getMeter('tenon').createHistogram(name, { unit, advice: { explicitBucketBoundaries } });

const contentOf = (messages: readonly { readonly role: string; readonly content: string }[], finish_reason?: string) =>
  JSON.stringify(
    messages.map(({ role, content }) => ({
      role,
      parts: [{ type: 'text', content: content.slice(0, MOST_CONTENT / messages.length) }],
      ...(finish_reason && { finish_reason }),
    })),
  );

/** Records a call of a runtime, from its arrival to its end. */
class ObservedCall {
  private readonly arrived = steadyMs();
  private turn: number | null = null;
  private first: number | undefined;
  private isOver = false;

  constructor(
    private readonly telemetry: GenAiTelemetry,
    private readonly span: Span,
    private readonly attributes: Attributes,
  ) {}

  /** Returns the call with an `admitted` that also records the end of the wait in the queue. */
  observing(call: RuntimeCall): RuntimeCall {
    const admitted = () => {
      this.turn = this.passed;
      this.span.add('queue', { from: 0, to: this.turn });
      call.admitted?.();
    };
    return { ...call, admitted };
  }

  /** Runs a step of the call. Ends the call if the step fails. */
  async step<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await this.span.run(step);
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  /** Records the first token of a stream. */
  began(): void {
    this.first ??= this.passed;
  }

  ended({ finishReason, usage, timing }: CompletionEnd, text: string): void {
    const from = this.turn ?? 0;
    const firstTokenMs = timing ? from + timing.firstTokenMs : this.first;
    const lastTokenMs = timing ? from + timing.tookMs : this.passed;
    const input = usage?.promptTokens;
    const output = usage?.completionTokens;
    const isMany = output !== undefined && output > 1 && firstTokenMs !== undefined;
    if (timing && firstTokenMs !== undefined) {
      this.span.add('prefill', { from, to: firstTokenMs }, { 'gen_ai.usage.input_tokens': input });
      this.span.add('decode', { from: firstTokenMs, to: lastTokenMs }, { 'gen_ai.usage.output_tokens': output });
    }
    if (this.span.isRecorded)
      this.span.set({
        'gen_ai.response.finish_reasons': [finishReason],
        'gen_ai.usage.input_tokens': input,
        'gen_ai.usage.output_tokens': output,
        'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens,
        ...this.telemetry.outputOf(text, finishReason),
      });
    this.end({
      firstTokenMs,
      tokenMs: isMany ? (lastTokenMs - firstTokenMs) / (output - 1) : undefined,
      ...(input !== undefined && output !== undefined && { usage: { input, output } }),
    });
  }

  embedded({ promptTokens }: Embeddings): void {
    this.span.set({ 'gen_ai.usage.input_tokens': promptTokens ?? undefined });
    this.end(promptTokens === null ? {} : { usage: { input: promptTokens } });
  }

  /** Records a failure. Does nothing if the call has ended. */
  failed(failure: unknown): void {
    if (this.isOver) return;
    if (this.turn === null) this.span.add('queue', { from: 0, to: this.passed });
    this.end({ failure });
  }

  private end(measured: Omit<Measured, 'tookMs'>): void {
    this.isOver = true;
    this.telemetry.measure(this.attributes, { tookMs: this.passed, ...measured });
    this.span.end(measured.failure);
  }

  private get passed(): number {
    return steadyMs() - this.arrived;
  }
}
