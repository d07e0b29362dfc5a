import type { ModelAnswer, ModelFileResolver, ModelRequest, ServerState } from '../../application/deployments/ports.js';
import type { Logger } from '../../application/shared/ports.js';
import { InferenceTimeout } from '../../domain/chat/errors.js';
import type { DeploymentStatus, LocalModel } from '../../domain/deployments/deployment.js';
import { DeploymentStarting, DeploymentStopped, DeploymentUnavailable } from '../../domain/deployments/errors.js';
import type { ChildLimits } from '../child-process/child-limits.js';
import type { OutputStream } from '../child-process/managed-process.js';
import { Supervisor, type SupervisorSettings } from '../child-process/supervisor.js';
import { requestModel } from './model-client.js';
import { ModelServerProcess, type ModelServerProcessSettings } from './model-server-process.js';

export interface ModelServerSettings extends ModelServerProcessSettings, SupervisorSettings {
  readonly children: ChildLimits;
}

export class SupervisedModelServer {
  readonly output: OutputLog;
  private readonly supervisor: Supervisor<ModelServerProcess>;
  private stopped = false;

  constructor(
    private readonly id: string,
    private readonly model: LocalModel,
    private readonly settings: ModelServerSettings,
    private readonly files: ModelFileResolver,
    log: Logger,
  ) {
    this.output = new OutputLog(id, log);
    this.supervisor = new Supervisor((signal) => this.launch(signal), settings, {
      log,
      subject: 'deployment process',
      fields: { deployment: id },
    });
  }

  /** Starts the process and resolves to its URL. If the first attempt fails, rejects and leaves nothing running. */
  async start(): Promise<string> {
    try {
      if (!this.stopped) await this.supervisor.start();
    } catch (error) {
      if (!this.stopped) throw error;
    }
    if (this.stopped) throw new DeploymentUnavailable('it was stopped.');
    return this.supervisor.latest?.url as string;
  }

  /** Starts the process. Resolves after the first attempt, also if it failed. Further attempts go on in the background. */
  async resume(): Promise<void> {
    if (!this.stopped) await this.supervisor.resume();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.supervisor.stop();
  }

  async state(): Promise<ServerState> {
    const status = await this.status();
    const { latest, starts, reason } = this.supervisor;
    return {
      status,
      url: latest?.url ?? null,
      reason: status === 'unhealthy' ? 'it does not answer' : reason,
      restarts: Math.max(0, starts - 1),
    };
  }

  request(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const { current } = this.supervisor;
    if (!current) throw this.refusal();
    const answer = requestModel(current.url, this.id, request, this.settings.inferenceTimeoutMs, signal);
    answer.catch((error: unknown) => error instanceof InferenceTimeout && void current.killIfFrozen());
    return answer;
  }

  private async launch(signal: AbortSignal): Promise<ModelServerProcess> {
    const copy = await this.files.materializeFile(this.model.modelPath, signal);
    const process = new ModelServerProcess(this.id, copy.path, this.model, this.settings, (stream, line) =>
      this.output.write(stream, line),
    );
    void process.gone.then(() => copy.release());
    return process;
  }

  private async status(): Promise<DeploymentStatus> {
    const { current } = this.supervisor;
    const healthy = await current?.isHealthy();
    // The process may have ended in the meantime.
    if (current && this.supervisor.current === current) return healthy ? 'running' : 'unhealthy';
    if (this.stopped || this.supervisor.state === 'no_room') return 'stopped';
    return this.supervisor.isCrashLooping ? 'crash_looping' : 'starting';
  }

  private refusal(): Error {
    if (this.stopped) return new DeploymentStopped();
    if (!this.supervisor.isCrashLooping && this.supervisor.state !== 'no_room') return new DeploymentStarting();
    return new DeploymentUnavailable(this.supervisor.reason ?? 'it does not run');
  }
}

const MAX_LINES = 10_000;
const MAX_CHARACTERS = 256 * 1_024;
const LOGGED_PER_SECOND = 200;

/** Keeps the latest output of a deployment's processes. Passes a limited number of lines per second to the log. */
class OutputLog {
  private readonly lines: string[] = [];
  private characters = 0;
  private second: NodeJS.Timeout | null = null;
  private linesInSecond = 0;

  constructor(
    private readonly deployment: string,
    private readonly log: Logger,
  ) {}

  write(stream: OutputStream, line: string): void {
    this.keep(line);
    this.second ??= setTimeout(() => this.endSecond(), 1_000).unref();
    this.linesInSecond++;
    if (this.linesInSecond <= LOGGED_PER_SECOND)
      this.log.info('deployment output', { deployment: this.deployment, stream, line });
  }

  latest(count: number): string[] {
    return this.lines.slice(-count);
  }

  private keep(line: string): void {
    this.lines.push(line);
    this.characters += line.length;
    while (this.lines.length > MAX_LINES || this.characters > MAX_CHARACTERS) {
      this.characters -= this.lines.shift()?.length ?? 0;
    }
  }

  private endSecond(): void {
    const leftOut = this.linesInSecond - LOGGED_PER_SECOND;
    if (leftOut > 0) this.log.warn('deployment output left out', { deployment: this.deployment, lines: leftOut });
    this.second = null;
    this.linesInSecond = 0;
  }
}
