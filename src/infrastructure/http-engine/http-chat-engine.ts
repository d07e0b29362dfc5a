import type { z } from 'zod';
import type { ChatEngine, ChatRuntime } from '../../application/chat/ports.js';
import type { Clock, Logger } from '../../application/shared/ports.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { EngineDialect } from './engine-dialect.js';
import { type EngineAccess, engineFields, type HttpSource, readSpec } from './engine-spec.js';
import { type EngineSettings, HttpChatRuntime } from './http-chat-runtime.js';

const usualSettings = {
  maxConcurrent: 32,
  probeTimeoutMs: 10_000,
  loadTimeoutMs: 120_000,
  retryDelayMs: { first: 500, max: 30_000 },
};

export type HttpChatEngineSettings = EngineAccess &
  Pick<EngineSettings, 'queue' | 'timeoutMs' | 'schemas' | 'answers'> &
  Partial<EngineSettings>;

/**
 * The base class of chat engines that run elsewhere and speak HTTP. It handles addresses and keys, connections, turns,
 * timeouts, probes, retries and figures. A new engine extends this class with the fields of its spec and with its
 * dialect. `OpenAiChatEngine` is an example.
 */
export abstract class HttpChatEngine<Model> extends EngineDialect<Model> implements ChatEngine {
  /** The value of `runtime` in the spec of a model. */
  abstract readonly kind: string;
  /** Reads the fields of a spec that this engine needs besides those of `engineFields`. */
  protected abstract readonly fields: z.ZodType<Model>;
  private readonly settings: EngineSettings & EngineAccess;

  constructor(
    settings: HttpChatEngineSettings,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    super();
    this.settings = { ...usualSettings, ...settings };
  }

  requireFields(): void {} // all fields are checked with the allowed hosts and the keys, when the model is connected

  async source(spec: JsonObject): Promise<HttpSource<Model>> {
    const engine = readSpec(engineFields(this.settings), spec);
    return { kind: this.kind, ...engine, model: readSpec(this.fields, spec) };
  }

  requireRoom(): void {} // an engine elsewhere needs no child process

  create(projectId: string): ChatRuntime {
    return new HttpChatRuntime(projectId, this, this.settings, this.clock, this.log);
  }
}
