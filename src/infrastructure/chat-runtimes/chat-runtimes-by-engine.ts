import { AsyncResource } from 'node:async_hooks';
import { injectable, multiInject } from 'inversify';
import {
  ChatEngine,
  type ChatRuntime,
  type ChatRuntimes,
  type CountCall,
  type RuntimeCall,
} from '../../application/chat/ports.js';
import type { ChatRequest, Completion, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import { RuntimeLoading, RuntimeStopped } from '../../domain/chat/errors.js';
import type { RuntimeFigures, RuntimeSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import { RuntimeId } from '../../domain/chat/target.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { type CalledRuntime, CallTelemetry } from './call-telemetry.js';

interface Entry {
  readonly kind: string;
  readonly runtime: ChatRuntime;
  /** Resolves when the previous runtime with the same id is stopped. */
  readonly replaced: Promise<void>;
}

/** Keeps the runtimes of all targets. The chat engine of its kind creates a runtime. */
@injectable()
export class ChatRuntimesByEngine implements ChatRuntimes {
  private readonly entries = new Map<string, Entry>();
  /** A runtime lives longer than the request that starts it. It must not keep that request, or name it in log lines. */
  private readonly outsideRequests = new AsyncResource('ChatRuntimesByEngine');
  private closed = false;

  constructor(
    @multiInject(ChatEngine) private readonly engines: readonly ChatEngine[],
    private readonly telemetry: CallTelemetry,
  ) {}

  requireFields(spec: JsonObject): void {
    this.engineOf(spec.runtime)?.requireFields(spec);
  }

  async source(spec: JsonObject): Promise<RuntimeSource> {
    const engine = this.engineOf(spec.runtime);
    if (engine) return engine.source(spec);
    const kinds = this.engines.map(({ kind }) => `"${kind}"`).join(' or ');
    const message = `must be ${kinds} for a model that is to be connected`;
    throw new InvalidRequest([{ path: 'spec.runtime', message }]);
  }

  requireRoom(id: string, { kind }: RuntimeSource): void {
    const known = this.entries.get(id);
    const isHeld = known?.kind === kind && known.runtime.status.state !== 'stopped';
    if (!isHeld) this.engineOf(kind)?.requireRoom();
  }

  start(id: string, source: RuntimeSource): void {
    if (this.closed) return;
    const known = this.entries.get(id);
    const { runtime } = known?.kind === source.kind ? known : this.replace(id, source.kind, known);
    this.outsideRequests.runInAsyncScope(() => runtime.start(source));
  }

  async stop(id: string): Promise<void> {
    const entry = this.entries.get(id);
    if (!entry) return;
    await Promise.all([entry.runtime.stop(), entry.replaced]);
    const isStartedAgain = entry.runtime.status.state !== 'stopped';
    if (!isStartedAgain && this.entries.get(id) === entry) this.entries.delete(id);
  }

  status(id: string): RuntimeStatus {
    return this.entries.get(id)?.runtime.status ?? { state: 'stopped', reason: null };
  }

  figures(): Map<string, RuntimeFigures> {
    const started = [...this.entries].filter(([, { runtime }]) => runtime.status.state !== 'stopped');
    return new Map(started.map(([id, { runtime }]) => [id, runtime.figures]));
  }

  async complete(id: string, request: ChatRequest, call: RuntimeCall): Promise<Completion> {
    const entry = this.entryFor(id, call);
    return this.telemetry.complete(aboutOf(id, entry), request, call, (observed) =>
      entry.runtime.complete(request, observed).catch((error) => this.rethrow(id, entry, error)),
    );
  }

  async embed(id: string, request: EmbeddingRequest, call: RuntimeCall): Promise<Embeddings> {
    const entry = this.entryFor(id, call);
    return this.telemetry.embed(aboutOf(id, entry), request, call, (observed) =>
      entry.runtime.embed(request, observed).catch((error) => this.rethrow(id, entry, error)),
    );
  }

  async countTokens(id: string, request: ChatRequest, call: CountCall): Promise<number> {
    const entry = this.entryFor(id, call);
    return entry.runtime.countTokens(request, call).catch((error) => this.rethrow(id, entry, error));
  }

  async boundTokens(id: string, request: ChatRequest, call: CountCall): Promise<number> {
    const entry = this.entryFor(id, call);
    return entry.runtime.boundTokens(request, call).catch((error) => this.rethrow(id, entry, error));
  }

  async boundTextTokens(id: string, request: EmbeddingRequest, call: CountCall): Promise<number> {
    const entry = this.entryFor(id, call);
    return entry.runtime.boundTextTokens(request, call).catch((error) => this.rethrow(id, entry, error));
  }

  async *stream(id: string, request: ChatRequest, call: RuntimeCall): AsyncGenerator<CompletionPart> {
    const entry = this.entryFor(id, call);
    try {
      yield* this.telemetry.stream(aboutOf(id, entry), request, call, (observed) =>
        entry.runtime.stream(request, observed),
      );
    } catch (error) {
      this.rethrow(id, entry, error);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.entries.keys()].map((id) => this.stop(id)));
  }

  private entryFor(id: string, { signal }: CountCall): Entry {
    signal.throwIfAborted();
    const entry = this.entries.get(id);
    if (!entry) throw new RuntimeStopped();
    return entry;
  }

  /** Throws RuntimeLoading if the call failed only because another runtime has replaced its runtime. */
  private rethrow(id: string, entry: Entry, error: unknown): never {
    const now = this.entries.get(id);
    const isReplaced = error instanceof RuntimeStopped && now !== undefined && now !== entry;
    throw isReplaced ? new RuntimeLoading() : error;
  }

  private replace(id: string, kind: string, before: Entry | undefined): Entry {
    const engine = this.engineOf(kind);
    if (!engine) throw new Error(`there is no chat engine of the kind ${kind}`);
    const replaced = Promise.all([before?.runtime.stop(), before?.replaced]).then(() => undefined);
    const entry = { kind, runtime: engine.create(id), replaced };
    this.entries.set(id, entry);
    return entry;
  }

  private engineOf(kind: unknown): ChatEngine | undefined {
    return this.engines.find((engine) => engine.kind === kind);
  }
}

const aboutOf = (id: string, { kind }: Entry): CalledRuntime => ({ kind, ...RuntimeId.parts(id) });
