import type { ChatEngine, ChatRuntime, RuntimeCall } from '../../application/chat/ports.js';
import type { ChatRequest, Completion, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import type { RuntimeFigures, RuntimeSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import type { GenAiTelemetry, ObservedCall } from './gen-ai.js';

/** Makes a span of each call to an engine's runtimes, and measures the call. */
export class TracedChatEngine implements ChatEngine {
  constructor(
    private readonly engine: ChatEngine,
    private readonly telemetry: GenAiTelemetry,
  ) {}

  get kind(): string {
    return this.engine.kind;
  }

  source(spec: JsonObject): Promise<RuntimeSource> {
    return this.engine.source(spec);
  }

  requireRoom(): void {
    this.engine.requireRoom();
  }

  create(projectId: string): ChatRuntime {
    return new TracedRuntime(this.engine.create(projectId), this.kind, projectId, this.telemetry);
  }
}

class TracedRuntime implements ChatRuntime {
  constructor(
    private readonly runtime: ChatRuntime,
    private readonly kind: string,
    private readonly project: string,
    private readonly telemetry: GenAiTelemetry,
  ) {}

  get status(): RuntimeStatus {
    return this.runtime.status;
  }

  get figures(): RuntimeFigures {
    return this.runtime.figures;
  }

  start(source: RuntimeSource): void {
    this.runtime.start(source);
  }

  stop(): Promise<void> {
    return this.runtime.stop();
  }

  async complete(request: ChatRequest, runtimeCall: RuntimeCall): Promise<Completion> {
    const call = this.telemetry.chat(this.kind, this.project, request);
    const answer = await observed(call, () => this.runtime.complete(request, call.observing(runtimeCall)));
    call.ended(answer, answer.text);
    return answer;
  }

  async embed(request: EmbeddingRequest, runtimeCall: RuntimeCall): Promise<Embeddings> {
    const call = this.telemetry.embeddings(this.kind, this.project, request);
    const answer = await observed(call, () => this.runtime.embed(request, call.observing(runtimeCall)));
    call.embedded(answer);
    return answer;
  }

  async *stream(request: ChatRequest, runtimeCall: RuntimeCall): AsyncGenerator<CompletionPart> {
    const call = this.telemetry.chat(this.kind, this.project, request);
    const parts = this.runtime.stream(request, call.observing(runtimeCall))[Symbol.asyncIterator]();
    let text = '';
    try {
      for (;;) {
        const { done, value: part } = await observed(call, () => parts.next());
        if (done) return;
        call.began();
        text = this.telemetry.kept(text, part.text);
        if (part.end) call.ended(part.end, text);
        yield part;
      }
    } finally {
      call.failed('cancelled'); // if the call has not ended, the caller has left
      await parts.return?.();
    }
  }
}

/** Runs a step of a call. Ends the call if the step fails. */
async function observed<T>(call: ObservedCall, step: () => Promise<T>): Promise<T> {
  try {
    return await call.span.run(step);
  } catch (error) {
    call.failed(error);
    throw error;
  }
}
