import type { ServerState } from '../../../src/application/deployments/ports.js';
import { RuntimeInvalidResponse } from '../../../src/domain/chat/errors.js';
import type { DeploymentStatus } from '../../../src/domain/deployments/deployment.js';
import { DeploymentUnavailable } from '../../../src/domain/deployments/errors.js';

const A_LOOP = 3;

/** Stands for the model of a file. */
export interface MemoryServedModel {
  /** Rejects with the loader's reason; one that never resolves is never healthy. */
  load(): Promise<void>;
  /** What it answers to a body; anything but a status and a text is no answer. */
  answer(body: string): Promise<unknown>;
}

/** One imagined process, and what is remembered of those before it. */
export class MemoryServer {
  readonly stopping = new AbortController();
  readonly lines: string[] = [];
  /** Aborted, with what its callers shall hear, when the process goes away; null where there is none. */
  life: AbortController | null = null;
  served: MemoryServedModel | null = null;
  port: number | null = null;
  reason: string | null = null;
  frozen = false;
  attempts = 0;
  ends = 0;
  failedToStart = false;
  waiting: NodeJS.Timeout | null = null;
  private died: (reason: string) => void = () => undefined;

  get state(): ServerState {
    const { status, port } = this;
    const reason = status === 'running' ? null : status === 'unhealthy' ? 'it does not answer' : this.reason;
    return { status, port, reason, restarts: Math.max(0, this.attempts - 1) };
  }

  get isLooping(): boolean {
    return this.waiting !== null && (this.failedToStart || this.ends >= A_LOOP);
  }

  run(port: number, served: MemoryServedModel, died: (reason: string) => void): void {
    this.life = new AbortController();
    this.frozen = false;
    this.failedToStart = false;
    this.served = served;
    this.port = port;
    this.died = died;
  }

  crash(reason: string): void {
    this.life?.abort(new RuntimeInvalidResponse('its process broke off.'));
    this.life = null;
    this.died(reason);
  }

  stop(): void {
    this.stopping.abort(new DeploymentUnavailable('it was stopped.'));
    this.life?.abort(new RuntimeInvalidResponse('its process broke off.'));
    this.life = null;
    if (this.waiting) clearTimeout(this.waiting);
  }

  private get status(): DeploymentStatus {
    if (this.life) return this.frozen ? 'unhealthy' : 'running';
    if (this.stopping.signal.aborted) return 'stopped';
    return this.isLooping ? 'crash_looping' : 'starting';
  }
}
