import type { ChatRuntime } from '../../application/chat/ports.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeStopped } from '../../domain/chat/errors.js';
import type { RuntimeSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { RuntimeFigures } from '../../domain/chat/runtime-figures.js';

/** Gives each runtime to the adapter for its kind of source. */
export class ChatRuntimesByKind implements ChatRuntime {
  /** Which adapter a runtime was given to. */
  private readonly owners = new Map<string, ChatRuntime>();

  constructor(private readonly adapters: Readonly<Record<RuntimeSource['kind'], ChatRuntime>>) {}

  start(id: string, source: RuntimeSource): void {
    const owner = this.adapters[source.kind];
    const before = this.owners.get(id);
    this.owners.set(id, owner);
    if (before && before !== owner) void before.stop(id).catch(() => undefined);
    owner.start(id, source);
  }

  async stop(id: string): Promise<void> {
    this.owners.delete(id);
    await Promise.all(this.all.map((adapter) => adapter.stop(id)));
  }

  status(id: string): RuntimeStatus {
    return this.owners.get(id)?.status(id) ?? { state: 'stopped', reason: null };
  }

  figures(): Map<string, RuntimeFigures> {
    const own = this.all.flatMap((adapter) => [...adapter.figures()].filter(([id]) => this.owners.get(id) === adapter));
    return new Map(own);
  }

  async complete(
    id: string,
    request: ChatRequest,
    caller: string,
    signal: AbortSignal,
    admitted?: () => void,
  ): Promise<Completion> {
    signal.throwIfAborted();
    const owner = this.owners.get(id);
    if (!owner) throw new RuntimeStopped();
    try {
      return await owner.complete(id, request, caller, signal, admitted);
    } catch (error) {
      const moved = error instanceof RuntimeStopped && this.owners.has(id) && this.owners.get(id) !== owner;
      throw moved ? new RuntimeLoading() : error;
    }
  }

  async close(): Promise<void> {
    this.owners.clear();
    await Promise.all(this.all.map((adapter) => adapter.close()));
  }

  private get all(): ChatRuntime[] {
    return Object.values(this.adapters);
  }
}
