import type { ChatRuntime } from '../../application/chat/ports.js';
import type { Clock, Logger } from '../../application/shared/ports.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { RuntimeStopped } from '../../domain/chat/errors.js';
import type { OnnxSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { RuntimeFigures } from '../../domain/chat/runtime-figures.js';
import { type RuntimeSettings, SupervisedRuntime } from './supervised-runtime.js';

type Patience = 'loadTimeoutMs' | 'restartDelayMs';
export type OnnxChatRuntimeSettings = Omit<RuntimeSettings, Patience> & Partial<Pick<RuntimeSettings, Patience>>;

const patience: Pick<RuntimeSettings, Patience> = {
  loadTimeoutMs: 120_000,
  restartDelayMs: { first: 500, max: 30_000 },
};

/** Each runtime is a child process under supervision: a crash in native code costs one runtime some seconds. */
export class OnnxChatRuntime implements ChatRuntime {
  private readonly runtimes = new Map<string, SupervisedRuntime>();
  private readonly settings: RuntimeSettings;

  constructor(
    settings: OnnxChatRuntimeSettings,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.settings = { ...patience, ...settings };
  }

  start(id: string, source: OnnxSource): void {
    const runtime = this.runtimes.get(id) ?? new SupervisedRuntime(id, this.settings, this.clock, this.log);
    this.runtimes.set(id, runtime);
    runtime.start(source);
  }

  async stop(id: string): Promise<void> {
    const runtime = this.runtimes.get(id);
    await runtime?.stop();
    // Meanwhile it may have been started again, or forgotten by another stop and made anew.
    if (runtime?.status.state === 'stopped' && this.runtimes.get(id) === runtime) this.runtimes.delete(id);
  }

  status(id: string): RuntimeStatus {
    return this.runtimes.get(id)?.status ?? { state: 'stopped', reason: null };
  }

  figures(): Map<string, RuntimeFigures> {
    const started = [...this.runtimes].filter(([, { status }]) => status.state !== 'stopped');
    return new Map(started.map(([id, { figures }]) => [id, figures]));
  }

  async complete(
    id: string,
    request: ChatRequest,
    caller: string,
    signal: AbortSignal,
    admitted?: () => void,
  ): Promise<Completion> {
    signal.throwIfAborted();
    const runtime = this.runtimes.get(id);
    if (!runtime) throw new RuntimeStopped();
    return runtime.complete(request, caller, signal, admitted);
  }

  async close(): Promise<void> {
    await Promise.all([...this.runtimes.keys()].map((id) => this.stop(id)));
  }
}
