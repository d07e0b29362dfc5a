import { isDeepStrictEqual } from 'node:util';
import type { ChatRuntime } from '../../application/chat/ports.js';
import type { Clock, Logger } from '../../application/shared/ports.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeStopped } from '../../domain/chat/errors.js';
import type { OpenAiSource, RuntimeStatus } from '../../domain/chat/runtime.js';
import type { RuntimeFigures } from '../../domain/chat/runtime-figures.js';
import { type RestartDelayBounds, RestartDelays } from '../runtimes/restart-delays.js';
import { UpstreamRuntime, type UpstreamSettings } from './upstream-runtime.js';

type Patience = 'atOnce' | 'probeTimeoutMs' | 'loadTimeoutMs' | 'retryDelayMs';
interface Settings extends UpstreamSettings {
  readonly retryDelayMs: RestartDelayBounds;
}
export type OpenAiChatRuntimeSettings = Omit<Settings, Patience> & Partial<Pick<Settings, Patience>>;

const patience: Pick<Settings, Patience> = {
  atOnce: 32,
  probeTimeoutMs: 10_000,
  loadTimeoutMs: 120_000,
  retryDelayMs: { first: 500, max: 30_000 },
};

/** Each runtime is an engine that runs elsewhere and speaks OpenAI's chat completions: vLLM, llama.cpp, Ollama, TGI. */
export class OpenAiChatRuntime implements ChatRuntime {
  private readonly runtimes = new Map<string, UpstreamRuntime>();
  private readonly settings: Settings;

  constructor(
    settings: OpenAiChatRuntimeSettings,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.settings = { ...patience, ...settings };
  }

  start(id: string, source: OpenAiSource): void {
    const before = this.runtimes.get(id);
    if (before && isDeepStrictEqual(before.source, source) && before.status.state !== 'unavailable') return;
    before?.end(new RuntimeLoading());
    const delays = new RestartDelays(this.settings.retryDelayMs);
    this.runtimes.set(id, new UpstreamRuntime(id, source, this.settings, delays, this.clock, this.log));
  }

  async stop(id: string): Promise<void> {
    this.runtimes.get(id)?.end(new RuntimeStopped());
    this.runtimes.delete(id);
  }

  status(id: string): RuntimeStatus {
    return this.runtimes.get(id)?.status ?? { state: 'stopped', reason: null };
  }

  figures(): Map<string, RuntimeFigures> {
    return new Map([...this.runtimes].map(([id, runtime]) => [id, runtime.figures]));
  }

  complete(
    id: string,
    request: ChatRequest,
    caller: string,
    signal: AbortSignal,
    admitted?: () => void,
  ): Promise<Completion> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const runtime = this.runtimes.get(id);
    if (!runtime) return Promise.reject(new RuntimeStopped());
    return runtime.complete(request, caller, signal, admitted);
  }

  async close(): Promise<void> {
    await Promise.all([...this.runtimes.keys()].map((id) => this.stop(id)));
  }
}
