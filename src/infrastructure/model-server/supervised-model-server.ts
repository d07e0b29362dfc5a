import type {
  ModelFileResolver,
  Prediction,
  PredictionCall,
  ServerState,
} from '../../application/deployments/ports.js';
import type { Logger } from '../../application/shared/ports.js';
import { InferenceTimeout } from '../../domain/chat/errors.js';
import type { DeploymentStatus, ServedModel } from '../../domain/deployments/deployment.js';
import { DeploymentStarting, DeploymentStopped, DeploymentUnavailable } from '../../domain/deployments/errors.js';
import { type RestartDelayBounds, RestartDelays } from '../runtimes/restart-delays.js';
import { ModelServerProcess, type ModelServerProcessSettings } from './model-server-process.js';
import { OutputLog } from './output-log.js';
import { requestPrediction } from './prediction-client.js';

/** Processes that ended one after another, none of them stable: the next end is no accident. */
const A_LOOP = 3;
/** Without an answer, after a prediction without one. */
const PROBES = 3;

export interface ModelServerSettings extends ModelServerProcessSettings {
  readonly restartDelayMs: RestartDelayBounds;
  /** A process that has run for so long owes its end to something new: the delays begin anew. */
  readonly stableMs: number;
}

/** A process that runs: it has proved its health, and may have died or hung since. */
interface Life {
  readonly process: ModelServerProcess;
  readonly port: number;
  readonly stable: NodeJS.Timeout;
}

/** One deployment: the process that serves it, and its return where it dies. There is never more than one process. */
export class SupervisedModelServer {
  readonly journal: OutputLog;
  private readonly delays: RestartDelays;
  private process: ModelServerProcess | null = null;
  private life: Life | null = null;
  private waiting: NodeJS.Timeout | null = null;
  private stopped = false;
  private port: number | null = null;
  private reason: string | null = null;
  private attempts = 0;
  /** In a row, whether the process ran before or not. */
  private ends = 0;
  private failedToStart = false;

  constructor(
    private readonly id: string,
    private readonly model: ServedModel,
    private readonly settings: ModelServerSettings,
    private readonly files: ModelFileResolver,
    private readonly log: Logger,
  ) {
    this.delays = new RestartDelays(settings.restartDelayMs);
    this.journal = new OutputLog(id, log);
  }

  /** Resolves to the port; where it throws, nothing is left behind. */
  async start(): Promise<number> {
    const file = await this.files.locate(this.model.modelPath);
    if (this.stopped) throw new DeploymentUnavailable('it was stopped.');
    this.attempts++;
    const process = this.begin(file);
    try {
      const port = await process.started;
      if (this.process !== process) throw new DeploymentUnavailable('its process ended at once.');
      this.run(process, port);
      return port;
    } catch (error) {
      await process.end();
      throw error;
    }
  }

  /** Starts it, and again after a while where that fails. */
  async keepTrying(): Promise<void> {
    this.waiting = null;
    if (this.stopped) return;
    try {
      await this.start();
    } catch (error) {
      this.failedToStart = true;
      this.retryLater((error as Error).message);
    }
  }

  async state(): Promise<ServerState> {
    const status = await this.status();
    const reason = status === 'running' ? null : status === 'unhealthy' ? 'it does not answer' : this.reason;
    return { status, port: this.port, reason, restarts: Math.max(0, this.attempts - 1) };
  }

  predict(call: PredictionCall, signal: AbortSignal): Promise<Prediction> {
    const { life } = this;
    if (!life) throw this.absence();
    const prediction = requestPrediction(life.port, call, this.settings.inferenceTimeoutMs, signal);
    prediction.catch((error: unknown) => error instanceof InferenceTimeout && void this.endIfFrozen(life));
    return prediction;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    if (this.waiting) clearTimeout(this.waiting);
    await this.process?.end();
  }

  /** A process whose model hangs says so itself. One that does nothing at all any more does not. */
  private async endIfFrozen({ process }: Life): Promise<void> {
    for (let probes = 0; probes < PROBES; probes++) if (await process.isHealthy()) return;
    if (this.life?.process === process) process.kill('it did not answer any more');
  }

  private async status(): Promise<DeploymentStatus> {
    const { life } = this;
    const healthy = (await life?.process.isHealthy()) ?? false;
    // Meanwhile it may have ended.
    if (life && this.life === life) return healthy ? 'running' : 'unhealthy';
    if (this.stopped) return 'stopped';
    return this.isLooping ? 'crash_looping' : 'starting';
  }

  private get isLooping(): boolean {
    return this.waiting !== null && (this.failedToStart || this.ends >= A_LOOP);
  }

  private absence(): Error {
    if (this.stopped) return new DeploymentStopped();
    return this.isLooping ? new DeploymentUnavailable(this.reason ?? 'it does not run') : new DeploymentStarting();
  }

  private begin(file: string): ModelServerProcess {
    const process = new ModelServerProcess(this.id, file, this.model, this.settings, {
      line: (stream, line) => this.journal.take(stream, line),
      gone: (reason) => this.gone(process, reason),
    });
    this.process = process;
    this.log.info('deployment process started', { deployment: this.id, pid: process.pid });
    return process;
  }

  private run(process: ModelServerProcess, port: number): void {
    const stable = setTimeout(() => this.calmDown(), this.settings.stableMs).unref();
    this.life = { process, port, stable };
    this.port = port;
    this.failedToStart = false;
    this.log.info('deployment running', { deployment: this.id, pid: process.pid, port });
  }

  private calmDown(): void {
    this.delays.reset();
    this.ends = 0;
  }

  private gone(process: ModelServerProcess, reason: string): void {
    this.log.info('deployment process ended', { deployment: this.id, pid: process.pid });
    this.process = null;
    if (!this.life) return; // it never ran: whoever started it hears that
    clearTimeout(this.life.stable);
    this.life = null;
    this.retryLater(reason);
  }

  private retryLater(reason: string): void {
    if (this.stopped) return;
    const restartInMs = this.delays.next();
    this.ends++;
    this.reason = reason;
    this.log.warn('deployment unavailable', { deployment: this.id, reason, restartInMs });
    this.waiting = setTimeout(() => void this.keepTrying(), restartInMs);
  }
}
