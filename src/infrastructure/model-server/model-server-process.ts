import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { LocalModel } from '../../domain/deployments/deployment.js';
import { DeploymentUnavailable, ModelFileInvalid } from '../../domain/deployments/errors.js';
import { HealthProof } from '../child-process/health-proof.js';
import { ManagedProcess, type OutputStream } from '../child-process/managed-process.js';
import { withoutPaths } from '../child-process/process-output.js';
import type { SupervisedProcess } from '../child-process/supervisor.js';
import type { ServeOrder, ServerMessage } from './protocol.js';

const PROBE_PAUSE_MS = 50;
/** Time to receive the rest of the output after the process has reported that its file is broken. */
const LAST_OUTPUT_MS = 1_000;
/** The part of the grace period that running requests get. The rest is for the end of the process itself. */
const GRACE_SHARE = 0.9;
/** The process counts as frozen when this many probes in a row fail. */
const PROBES = 3;

export interface ModelServerProcessSettings {
  /** The compiled program of the child process: `process/main.js`. */
  readonly program: string;
  /** Threads that one inference may use. */
  readonly threads: number;
  readonly bodyLimit: number;
  /** Limit from the start of the process to its health proof. */
  readonly startTimeoutMs: number;
  /** Limit for the answer to a prediction, and for one run of the model. */
  readonly inferenceTimeoutMs: number;
  readonly probeTimeoutMs: number;
  readonly stopGraceMs: number;
}

const Message: z.ZodType<ServerMessage> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('listening'), port: z.int() }),
  z.object({ type: z.literal('stuck') }),
  z.object({ type: z.literal('broken'), reason: z.string() }),
]);

type StartReport = Exclude<ServerMessage, { type: 'stuck' }>;

export class ModelServerProcess implements SupervisedProcess {
  /**
   * Resolves when the process has proved its health. Rejects with ModelFileInvalid if it cannot serve the file, and with
   * DeploymentUnavailable if it cannot be started or takes too long.
   */
  readonly ready: Promise<void>;
  readonly gone: Promise<string>;
  private readonly process: ManagedProcess<ServeOrder>;
  private readonly proof = new HealthProof();
  private readonly folder: string;
  private listeningPort: number | null = null;
  private onStartReport: (report: StartReport) => void = () => undefined;

  constructor(
    id: string,
    file: string,
    model: LocalModel,
    private readonly settings: ModelServerProcessSettings,
    onLine: (stream: OutputStream, line: string) => void,
  ) {
    const { program, threads, bodyLimit, inferenceTimeoutMs, stopGraceMs } = settings;
    const { name, modelPath, maxBatch, maxDelayMs } = model;
    this.folder = dirname(file);
    this.process = new ManagedProcess<ServeOrder>({
      program,
      folder: this.folder,
      stopGraceMs,
      onMessage: (message) => this.receive(message),
      onLine,
    });
    this.gone = this.process.gone;
    this.ready = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(this.tooSlow()), settings.startTimeoutMs);
      void this.start()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
    const { secret } = this.proof;
    const graceMs = GRACE_SHARE * stopGraceMs;
    const limits = { threads, bodyLimit, inferenceTimeoutMs, graceMs, maxBatch, maxDelayMs: maxDelayMs ?? 0 };
    this.process.send({ type: 'serve', id, name, file, modelPath, secret, ...limits });
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  private get port(): number {
    if (this.listeningPort === null) throw new Error('the process does not listen yet');
    return this.listeningPort;
  }

  isHealthy(): Promise<boolean> {
    return this.proof.holds(this.port, this.settings.probeTimeoutMs);
  }

  /** Kills the process if it answers no probe. A hanging model needs no probe, because the process reports it. */
  async killIfFrozen(): Promise<void> {
    for (let probe = 0; probe < PROBES; probe++) if (await this.isHealthy()) return;
    this.process.kill('it did not answer any more');
  }

  end(): Promise<void> {
    return this.process.end();
  }

  private async start(): Promise<void> {
    const failed = this.gone.then((reason): never => {
      // If the process could not even be started, the reason says nothing about the file.
      throw this.pid ? new ModelFileInvalid(reason) : new DeploymentUnavailable(reason);
    });
    const reported = new Promise<StartReport>((resolve) => {
      this.onStartReport = resolve;
    });
    const report = await Promise.race([reported, failed]);
    if (report.type === 'broken') {
      await Promise.race([this.gone, delay(LAST_OUTPUT_MS)]);
      throw new ModelFileInvalid(this.withLastOutput(withoutPaths(report.reason, this.folder)));
    }
    this.listeningPort = report.port;
    await Promise.race([this.untilHealthy(), failed]);
  }

  private async untilHealthy(): Promise<void> {
    let isGone = false;
    void this.gone.then(() => {
      isGone = true;
    });
    while (!isGone && !(await this.isHealthy())) await delay(PROBE_PAUSE_MS);
  }

  private tooSlow(): Error {
    const seconds = this.settings.startTimeoutMs / 1_000;
    return new DeploymentUnavailable(this.withLastOutput(`it did not prove its health within ${seconds} s.`));
  }

  private receive(message: unknown): void {
    const { data: report } = Message.safeParse(message);
    if (report?.type === 'stuck')
      this.process.kill(`a prediction took longer than ${this.settings.inferenceTimeoutMs / 1_000} s`);
    else if (report) this.onStartReport(report);
  }

  private withLastOutput(reason: string): string {
    const { lastOutput } = this.process;
    return lastOutput ? `${reason} Its last output: ${lastOutput}` : reason;
  }
}
