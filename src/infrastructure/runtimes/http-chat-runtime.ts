/**
 * The base of the chat engines that run elsewhere and speak HTTP. It does everything but the translation: the engine's
 * address and key, connections, turns, timeouts, probes, retries, figures. A new engine extends it with the fields of its
 * spec and the translation of requests and answers; `OpenAiChatRuntime` is an example.
 */
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { ChatEngine } from '../../application/chat/ports.js';
import type { Clock, Logger } from '../../application/shared/ports.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeStopped } from '../../domain/chat/errors.js';
import type { RuntimeStatus } from '../../domain/chat/runtime.js';
import type { RuntimeFigures } from '../../domain/chat/runtime-figures.js';
import type { JsonObject } from '../../domain/workspace/json.js';
import { type EngineApi, type EngineSettings, type HttpSource, usualEngineSettings } from './engine-api.js';
import { type EngineAccess, engineFields, readSpec } from './model-spec.js';
import { RemoteEngine } from './remote-engine.js';

export type HttpChatRuntimeSettings = EngineAccess &
  Pick<EngineSettings, 'queue' | 'timeoutMs'> &
  Partial<EngineSettings>;

export abstract class HttpChatRuntime<Model> implements ChatEngine, EngineApi<Model> {
  /** The value of `runtime` in the spec of a model. */
  abstract readonly kind: string;
  /** Reads the fields of a spec that this engine needs besides `base_url` and `key_setting`. */
  protected abstract readonly fields: z.ZodType<Model>;
  readonly probePath: string = '/';
  abstract readonly contextExceeded: RegExp;
  private readonly engines = new Map<string, RemoteEngine<Model>>();
  private readonly settings: EngineSettings & EngineAccess;

  constructor(
    settings: HttpChatRuntimeSettings,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.settings = { ...usualEngineSettings, ...settings };
  }

  abstract request(request: ChatRequest, model: Model): { readonly path: string; readonly body: object };
  abstract answer(model: Model): z.ZodType<Completion>;

  headers(key: string | null): Record<string, string> {
    return key === null ? {} : { Authorization: `Bearer ${key}` };
  }

  async source(spec: JsonObject): Promise<HttpSource<Model>> {
    const { base_url: baseUrl, key_setting: key } = readSpec(engineFields(this.settings), spec);
    return { kind: this.kind, baseUrl, key, model: readSpec(this.fields, spec) };
  }

  start(id: string, source: HttpSource<Model>): void {
    const before = this.engines.get(id);
    if (before && isDeepStrictEqual(before.source, source) && before.status.state !== 'unavailable') return;
    before?.end(new RuntimeLoading());
    this.engines.set(id, new RemoteEngine(id, source, this, this.settings, this.clock, this.log));
  }

  async stop(id: string): Promise<void> {
    this.engines.get(id)?.end(new RuntimeStopped());
    this.engines.delete(id);
  }

  status(id: string): RuntimeStatus {
    return this.engines.get(id)?.status ?? { state: 'stopped', reason: null };
  }

  figures(): Map<string, RuntimeFigures> {
    return new Map([...this.engines].map(([id, engine]) => [id, engine.figures]));
  }

  async complete(
    id: string,
    request: ChatRequest,
    caller: string,
    signal: AbortSignal,
    admitted?: () => void,
  ): Promise<Completion> {
    signal.throwIfAborted();
    const engine = this.engines.get(id);
    if (!engine) throw new RuntimeStopped();
    return engine.complete(request, caller, signal, admitted);
  }

  async close(): Promise<void> {
    await Promise.all([...this.engines.keys()].map((id) => this.stop(id)));
  }
}
