/** The runtime of an ONNX model: the model that should run, and the supervisor of its worker process. */
import { isDeepStrictEqual } from 'node:util';
import type { EngineRuntime } from '../../application/chat/ports.js';
import type { Clock, Logger } from '../../application/shared/ports.js';
import type { ChatRequest, Completion } from '../../domain/chat/chat.js';
import { RuntimeLoading, RuntimeStopped, RuntimeUnavailable } from '../../domain/chat/errors.js';
import type { RuntimeFigures, RuntimeStatus } from '../../domain/chat/runtime.js';
import { Supervisor, type SupervisorState } from '../child-process/supervisor.js';
import { WaitEstimate } from '../runtimes/fair-queue.js';
import { RuntimeMeter } from '../runtimes/runtime-meter.js';
import type { RestartDelayBounds } from '../system/scheduling.js';
import { ChatProcess, type ChatProcessSettings, type OnnxSource } from './chat-process.js';

/** A process that was ready for so long restarts with the shortest delay again. */
const STABLE_MS = 10 * 60_000;

export interface RuntimeSettings extends ChatProcessSettings {
  readonly restartDelayMs: RestartDelayBounds;
}

const states: Readonly<Record<SupervisorState, RuntimeStatus['state']>> = {
  stopped: 'stopped',
  starting: 'loading',
  running: 'ready',
  waiting: 'unavailable',
  failed: 'unavailable',
};

export class SupervisedRuntime implements EngineRuntime {
  private source: OnnxSource | null = null;
  private readonly supervisor: Supervisor<ChatProcess>;
  private readonly estimate = new WaitEstimate();
  private readonly meter = new RuntimeMeter();

  constructor(
    private readonly id: string,
    private readonly settings: RuntimeSettings,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.supervisor = new Supervisor(
      () => this.launch(),
      { restartDelayMs: settings.restartDelayMs, stableMs: STABLE_MS },
      { log, subject: 'chat runtime', fields: { runtime: id } },
      ({ calls }, reason) => calls.fail(new RuntimeUnavailable(reason)),
    );
  }

  get status(): RuntimeStatus {
    const state = states[this.supervisor.state];
    return { state, reason: state === 'unavailable' ? this.supervisor.reason : null };
  }

  get figures(): RuntimeFigures {
    return this.meter.figures(this.supervisor.current?.calls.queue ?? null);
  }

  start(source: OnnxSource): void {
    if (isDeepStrictEqual(this.source, source) && this.status.state !== 'unavailable') return;
    this.source = source;
    const { current } = this.supervisor;
    void this.supervisor.resume();
    current?.calls.fail(new RuntimeLoading());
  }

  async stop(): Promise<void> {
    this.source = null;
    const { current } = this.supervisor;
    const stopped = this.supervisor.stop();
    current?.calls.fail(new RuntimeStopped());
    await stopped;
  }

  async complete(
    request: ChatRequest,
    caller: string,
    signal: AbortSignal,
    admitted?: () => void,
  ): Promise<Completion> {
    const { state, reason } = this.status;
    if (state === 'stopped') throw new RuntimeStopped();
    if (state === 'loading') throw new RuntimeLoading();
    if (!this.supervisor.current) throw new RuntimeUnavailable(reason ?? 'its process is gone');
    return this.supervisor.current.calls.complete(request, caller, signal, admitted);
  }

  private launch(): ChatProcess {
    return new ChatProcess(
      this.source as OnnxSource,
      this.settings,
      { estimate: this.estimate, meter: this.meter, clock: this.clock },
      {
        line: (stream, line) => this.log.info('chat runtime output', { runtime: this.id, stream, line }),
        invalidMessage: (call) => this.log.warn('chat runtime sent nonsense', { runtime: this.id, call }),
        broken: (reason) => this.fail(reason),
      },
    );
  }

  /** Leaves the runtime unavailable until the model is repaired and started again. */
  private fail(reason: string): void {
    const { current } = this.supervisor;
    this.supervisor.fail(reason);
    current?.calls.fail(new RuntimeUnavailable(reason));
  }
}
