import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServedModel } from '../../domain/deployments/deployment.js';
import { DeploymentUnavailable, ModelFileInvalid } from '../../domain/deployments/errors.js';
import { HealthProof } from '../child-process/health-proof.js';
import { ManagedProcess, type ProcessListener } from '../child-process/managed-process.js';
import { OutputTail } from '../child-process/output-lines.js';
import { withoutPaths } from '../child-process/without-paths.js';
import type { ServeOrder, ServingReport } from './protocol.js';

const PROOF_PAUSE_MS = 50;
const TAIL_BYTES = 8 * 1_024;
/** What a process gets to end, and to have all that it wrote read, once it has said that it is broken. */
const LAST_WORDS_MS = 1_000;
/** Of what it gets to end, what runs may take so much; then there is time left to end in order. */
const GRACE_SHARE = 0.9;

export interface ModelServerProcessSettings {
  /** The compiled program of the child process: `serving/main.js`. */
  readonly program: string;
  /** Threads that one inference may use. */
  readonly threads: number;
  /** The largest body of a prediction, in bytes. */
  readonly bodyLimit: number;
  /** From the process's start until it has proved its health. */
  readonly startTimeoutMs: number;
  /** For a prediction without an answer, and for a run of the model. */
  readonly inferenceTimeoutMs: number;
  readonly probeTimeoutMs: number;
  /** What a process gets to end by itself before it is killed. */
  readonly stopGraceMs: number;
}

/** One process that serves a model file, from its start to its end. */
export class ModelServerProcess {
  /**
   * Resolves to the port once the process has proved its health. Rejects with ModelFileInvalid where it can't serve the
   * file, with DeploymentUnavailable where it can't be started, takes too long, or is ended.
   */
  readonly started: Promise<number>;
  private readonly process: ManagedProcess<ServeOrder>;
  private readonly proof = new HealthProof();
  private readonly folder: string;
  private readonly tail = new OutputTail(TAIL_BYTES);
  private port: number | null = null;
  /** What it said that is wrong with the file. */
  private broken: string | null = null;
  private listening: (port: number) => void = () => undefined;
  private fail: (error: Error) => void = () => undefined;

  /** Throws DeploymentUnavailable. */
  constructor(
    id: string,
    file: string,
    { name, modelPath, maxBatch, maxDelayMs }: ServedModel,
    private readonly settings: ModelServerProcessSettings,
    listener: Pick<ProcessListener, 'line' | 'gone'>,
  ) {
    this.folder = dirname(file);
    this.started = this.awaitProof();
    this.started.catch(() => undefined);
    this.process = this.fork({
      message: (message) => this.receive(message),
      line: (stream, line) => {
        this.tail.write(Buffer.from(`${line}\n`));
        listener.line(stream, line);
      },
      gone: (reason) => {
        this.failAsBroken();
        this.fail(this.pid ? new ModelFileInvalid(reason) : new DeploymentUnavailable(reason));
        listener.gone(reason);
      },
    });
    const { secret } = this.proof;
    const { threads, bodyLimit, inferenceTimeoutMs, stopGraceMs } = settings;
    const about = {
      id,
      name,
      file,
      modelPath,
      threads,
      secret,
      bodyLimit,
      inferenceTimeoutMs,
      graceMs: GRACE_SHARE * stopGraceMs,
    };
    this.process.send({ type: 'serve', ...about, maxBatch, maxDelayMs: maxDelayMs ?? 0 });
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** Whether it is there and proves it now. */
  async isHealthy(): Promise<boolean> {
    return this.port !== null && this.proof.holds(this.port, this.settings.probeTimeoutMs);
  }

  /** Ends it at once, as a fault would, for this reason. */
  kill(reason: string): void {
    this.process.kill(reason);
  }

  /** Resolves once the process no longer exists. */
  end(): Promise<void> {
    this.fail(new DeploymentUnavailable('it was stopped.'));
    this.process.end(this.settings.stopGraceMs);
    return this.process.gone;
  }

  private fork(listener: ProcessListener): ManagedProcess<ServeOrder> {
    try {
      return new ManagedProcess(this.settings.program, this.folder, listener);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const failure = new DeploymentUnavailable(`its process can't be started (${code ?? 'unknown cause'})`);
      this.fail(failure);
      throw failure;
    }
  }

  private async awaitProof(): Promise<number> {
    const seconds = this.settings.startTimeoutMs / 1_000;
    const late = () =>
      this.fail(new DeploymentUnavailable(this.withLastWords(`it did not prove its health within ${seconds} s.`)));
    const timer = setTimeout(late, this.settings.startTimeoutMs);
    const failed = new Promise<never>((_, reject) => {
      this.fail = reject;
    });
    const listening = new Promise<number>((resolve) => {
      this.listening = resolve;
    });
    const giveUp = new AbortController();
    try {
      return await Promise.race([failed, this.proved(listening, giveUp.signal)]);
    } finally {
      clearTimeout(timer);
      giveUp.abort();
    }
  }

  private async proved(listening: Promise<number>, giveUp: AbortSignal): Promise<number> {
    this.port = await listening;
    while (!giveUp.aborted && !(await this.isHealthy())) await pause(PROOF_PAUSE_MS);
    return this.port;
  }

  private receive(message: unknown): void {
    const report = reportOf(message);
    if (report?.type === 'listening') this.listening(report.port);
    if (report?.type === 'stuck') {
      this.kill(`a prediction took longer than ${this.settings.inferenceTimeoutMs / 1_000} s`);
    }
    if (report?.type !== 'broken') return;
    this.broken = withoutPaths(report.reason, this.folder);
    // What it wrote may still be on its way.
    setTimeout(() => this.failAsBroken(), LAST_WORDS_MS).unref();
  }

  private failAsBroken(): void {
    if (this.broken !== null) this.fail(new ModelFileInvalid(this.withLastWords(this.broken)));
  }

  private withLastWords(reason: string): string {
    const words = withoutPaths(this.tail.text.replaceAll(`${this.folder}/`, ''), this.folder);
    return words ? `${reason} Its last output: ${words}` : reason;
  }
}

/** The report that a message is; null for anything else. Nothing that a process says is trusted unread. */
function reportOf(message: unknown): ServingReport | null {
  const { type, port, reason } = (message ?? {}) as Record<string, unknown>;
  if (type === 'listening' && Number.isInteger(port)) return { type, port: port as number };
  if (type === 'stuck') return { type };
  if (type === 'broken' && typeof reason === 'string') return { type, reason };
  return null;
}
