import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServedModel } from '../../domain/deployments/deployment.js';
import { DeploymentUnavailable, ModelFileInvalid } from '../../domain/deployments/errors.js';
import { HealthProof } from '../child-process/health-proof.js';
import { ManagedProcess, type OutputStream } from '../child-process/managed-process.js';
import type { SupervisedProcess } from '../child-process/supervisor.js';
import { withoutPaths } from '../child-process/without-paths.js';
import { parseServerMessage, type ServeOrder } from './protocol.js';

const PROBE_PAUSE_MS = 50;
/** Time to receive the rest of the output after the process has said that its file is broken. */
const LAST_OUTPUT_MS = 1_000;
/** The part of the grace period that running requests get. The rest is for an orderly end. */
const GRACE_SHARE = 0.9;
/** Probes that may fail before the process counts as frozen. */
const PROBES = 3;

export interface ModelServerProcessSettings {
  /** The compiled program of the child process: `process/main.js`. */
  readonly program: string;
  /** Threads that one inference may use. */
  readonly threads: number;
  /** The largest body of a prediction, in bytes. */
  readonly bodyLimit: number;
  /** Time from the start of the process until it has proved its health. */
  readonly startTimeoutMs: number;
  /** Time for the answer to a prediction, and for a run of the model. */
  readonly inferenceTimeoutMs: number;
  readonly probeTimeoutMs: number;
  /** Time between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number;
}

type Answer = { readonly port: number } | { readonly broken: string } | { readonly gone: string };

/** One process that serves a model file, from its start to its end. */
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
  private answer: (answer: Answer) => void = () => undefined;

  constructor(
    id: string,
    file: string,
    model: ServedModel,
    private readonly settings: ModelServerProcessSettings,
    onLine: (stream: OutputStream, line: string) => void,
  ) {
    const { program, threads, bodyLimit, inferenceTimeoutMs, stopGraceMs } = settings;
    this.folder = dirname(file);
    this.process = new ManagedProcess<ServeOrder>({
      program,
      folder: this.folder,
      stopGraceMs,
      onMessage: (message) => this.receive(message),
      onLine,
    });
    this.gone = this.process.gone;
    this.ready = this.inTime(this.start());
    this.process.send({
      type: 'serve',
      id,
      name: model.name,
      file,
      modelPath: model.modelPath,
      threads,
      secret: this.proof.secret,
      maxBatch: model.maxBatch,
      maxDelayMs: model.maxDelayMs ?? 0,
      bodyLimit,
      inferenceTimeoutMs,
      graceMs: GRACE_SHARE * stopGraceMs,
    });
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** Throws if the process has not listened yet. */
  get port(): number {
    if (this.listeningPort === null) throw new Error('the process does not listen yet');
    return this.listeningPort;
  }

  /** Asks the process for the proof of its health. */
  isHealthy(): Promise<boolean> {
    return this.proof.holds(this.port, this.settings.probeTimeoutMs);
  }

  /** Kills the process if it answers no probe. A process whose model hangs reports that itself. */
  async killIfFrozen(): Promise<void> {
    for (let probe = 0; probe < PROBES; probe++) if (await this.isHealthy()) return;
    this.process.kill('it did not answer any more');
  }

  end(): Promise<void> {
    return this.process.end();
  }

  private async start(): Promise<void> {
    const answer = await new Promise<Answer>((resolve) => {
      this.answer = resolve;
      void this.gone.then((reason) => resolve({ gone: reason }));
    });
    if ('port' in answer) return this.untilHealthy(answer.port);
    if ('gone' in answer) throw this.failure(answer.gone);
    await Promise.race([this.gone, delay(LAST_OUTPUT_MS)]);
    throw new ModelFileInvalid(this.withLastOutput(withoutPaths(answer.broken, this.folder)));
  }

  private async untilHealthy(port: number): Promise<void> {
    let gone: string | null = null;
    void this.gone.then((reason) => {
      gone = reason;
    });
    this.listeningPort = port;
    while (!(await this.isHealthy())) {
      if (gone !== null) throw this.failure(gone);
      await delay(PROBE_PAUSE_MS);
    }
  }

  /** A process that could not even be started says nothing about the file. */
  private failure(reason: string): Error {
    return this.pid ? new ModelFileInvalid(reason) : new DeploymentUnavailable(reason);
  }

  private async inTime(started: Promise<void>): Promise<void> {
    const { startTimeoutMs } = this.settings;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const reason = `it did not prove its health within ${startTimeoutMs / 1_000} s.`;
        reject(new DeploymentUnavailable(this.withLastOutput(reason)));
      }, startTimeoutMs);
    });
    await Promise.race([started, late]).finally(() => clearTimeout(timer));
  }

  private receive(message: unknown): void {
    const report = parseServerMessage(message);
    if (report?.type === 'listening') this.answer({ port: report.port });
    if (report?.type === 'broken') this.answer({ broken: report.reason });
    if (report?.type === 'stuck')
      this.process.kill(`a prediction took longer than ${this.settings.inferenceTimeoutMs / 1_000} s`);
  }

  private withLastOutput(reason: string): string {
    const output = this.process.lastOutput;
    return output ? `${reason} Its last output: ${output}` : reason;
  }
}
