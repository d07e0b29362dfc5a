/**
 * The base class of chat engines that run elsewhere and speak HTTP. It handles addresses and keys, connections, turns,
 * timeouts, probes, retries and figures. A new engine extends this class with the fields of its spec and with the
 * translation of requests and answers. `OpenAiChatEngine` is an example.
 */
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { ChatEngine, ChatRuntime, RuntimeCall } from '../../application/chat/ports.js';
import type { Clock, Logger } from '../../application/shared/ports.js';
import type { ChatRequest, Completion, CompletionPart } from '../../domain/chat/chat.js';
import type { EmbeddingRequest, Embeddings } from '../../domain/chat/embedding.js';
import { RuntimeLoading, RuntimeStopped } from '../../domain/chat/errors.js';
import type { RuntimeFigures, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { RuntimeMeter } from '../chat-runtimes/runtime-meter.js';
import {
  type EngineAccess,
  type EngineChunk,
  type EngineDialect,
  type EngineEmbeddings,
  type EngineSettings,
  engineFields,
  type HttpSource,
  readSpec,
  usualEngineSettings,
} from './engine-dialect.js';
import { RemoteEngine } from './remote-engine.js';

export type HttpChatEngineSettings = EngineAccess &
  Pick<EngineSettings, 'queue' | 'timeoutMs' | 'schemas'> &
  Partial<EngineSettings>;

export abstract class HttpChatEngine<Model> implements ChatEngine, EngineDialect<Model> {
  /** The value of `runtime` in the spec of a model. */
  abstract readonly kind: string;
  /** Reads the fields of a spec that this engine needs besides those of `engineFields`. */
  protected abstract readonly fields: z.ZodType<Model>;
  readonly probePath: string = '/';
  abstract readonly contextExceeded: RegExp;
  private readonly settings: EngineSettings & EngineAccess;

  constructor(
    settings: HttpChatEngineSettings,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.settings = { ...usualEngineSettings, ...settings };
  }

  abstract request(
    request: ChatRequest,
    model: Model,
    stream: boolean,
  ): { readonly path: string; readonly body: object };
  abstract answer(model: Model): z.ZodType<Completion>;
  chunk?(model: Model): z.ZodType<EngineChunk>;
  embeddings?(request: EmbeddingRequest, model: Model): EngineEmbeddings;

  headers(key: string | null): Record<string, string> {
    return key === null ? {} : { Authorization: `Bearer ${key}` };
  }

  async source(spec: JsonObject): Promise<HttpSource<Model>> {
    const engine = readSpec(engineFields(this.settings), spec);
    return { kind: this.kind, ...engine, model: readSpec(this.fields, spec) };
  }

  requireRoom(): void {} // an engine elsewhere needs no child process

  create(projectId: string): ChatRuntime {
    const begin = (source: HttpSource<Model>) =>
      new RemoteEngine(projectId, source, this, this.settings, this.clock, this.log);
    return new HttpChatRuntime(begin);
  }
}

/** Uses one engine. `start` replaces the engine if it is unavailable or has another source. */
class HttpChatRuntime<Model> implements ChatRuntime {
  private engine: RemoteEngine<Model> | null = null;

  constructor(private readonly begin: (source: HttpSource<Model>) => RemoteEngine<Model>) {}

  get status(): RuntimeStatus {
    if (!this.engine) return { state: 'stopped', reason: null };
    const { task } = this.engine.source;
    return { ...this.engine.status, ...(task && { task }) };
  }

  get figures(): RuntimeFigures {
    return this.engine?.figures ?? new RuntimeMeter().figures(null);
  }

  start(source: HttpSource<Model>): void {
    const { engine } = this;
    if (engine && isDeepStrictEqual(engine.source, source) && engine.status.state !== 'unavailable') return;
    engine?.end(new RuntimeLoading());
    this.engine = this.begin(source);
  }

  async stop(): Promise<void> {
    this.engine?.end(new RuntimeStopped());
    this.engine = null;
  }

  async complete(request: ChatRequest, call: RuntimeCall): Promise<Completion> {
    if (!this.engine) throw new RuntimeStopped();
    return this.engine.complete(request, call);
  }

  async *stream(request: ChatRequest, call: RuntimeCall): AsyncGenerator<CompletionPart> {
    if (!this.engine) throw new RuntimeStopped();
    yield* this.engine.stream(request, call);
  }

  async embed(request: EmbeddingRequest, call: RuntimeCall): Promise<Embeddings> {
    if (!this.engine) throw new RuntimeStopped();
    return this.engine.embed(request, call);
  }
}
