/** Gives each runtime to the chat engine of its kind. */
import { injectable, multiInject } from 'inversify';
import { ChatEngine, type ChatRuntime } from '../../application/chat/ports.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeStopped } from '../../domain/chat/errors.js';
import type { RuntimeSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { RuntimeFigures } from '../../domain/chat/runtime-figures.js';
import { InvalidRequest } from '../../domain/shared/errors.js';
import type { JsonObject } from '../../domain/workspace/json.js';

@injectable()
export class ChatRuntimeByKind implements ChatRuntime {
  /** The engine of each runtime that was started. */
  private readonly started = new Map<string, ChatEngine>();

  constructor(@multiInject(ChatEngine) private readonly engines: readonly ChatEngine[]) {}

  async source(spec: JsonObject): Promise<RuntimeSource> {
    const engine = this.engineOf(spec.runtime);
    if (engine) return engine.source(spec);
    const kinds = this.engines.map(({ kind }) => `"${kind}"`).join(' or ');
    const message = `must be ${kinds} for a model that is to be connected`;
    throw new InvalidRequest([{ path: 'spec.runtime', message }]);
  }

  start(id: string, source: RuntimeSource): void {
    const engine = this.engineOf(source.kind);
    if (!engine) throw new Error(`there is no chat engine of the kind ${source.kind}`);
    const before = this.started.get(id);
    this.started.set(id, engine);
    if (before && before !== engine) void before.stop(id).catch(() => undefined);
    engine.start(id, source);
  }

  async stop(id: string): Promise<void> {
    this.started.delete(id);
    await Promise.all(this.engines.map((engine) => engine.stop(id)));
  }

  status(id: string): RuntimeStatus {
    return this.started.get(id)?.status(id) ?? { state: 'stopped', reason: null };
  }

  figures(): Map<string, RuntimeFigures> {
    const all = this.engines.flatMap((engine) =>
      [...engine.figures()].filter(([id]) => this.started.get(id) === engine),
    );
    return new Map(all);
  }

  async complete(
    id: string,
    request: ChatRequest,
    caller: string,
    signal: AbortSignal,
    admitted?: () => void,
  ): Promise<Completion> {
    signal.throwIfAborted();
    const engine = this.started.get(id);
    if (!engine) throw new RuntimeStopped();
    try {
      return await engine.complete(id, request, caller, signal, admitted);
    } catch (error) {
      const moved = error instanceof RuntimeStopped && this.started.has(id) && this.started.get(id) !== engine;
      throw moved ? new RuntimeLoading() : error;
    }
  }

  async close(): Promise<void> {
    this.started.clear();
    await Promise.all(this.engines.map((engine) => engine.close()));
  }

  private engineOf(kind: unknown): ChatEngine | undefined {
    return this.engines.find((engine) => engine.kind === kind);
  }
}
