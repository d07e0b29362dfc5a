/** Starts and ends the chat worker of a runtime, and receives its messages. */
import type { Clock, IdGenerator } from '../../application/shared/ports.js';
import type { RuntimeSource, RuntimeTask } from '../../domain/chat/runtime.js';
import type { WaitEstimate } from '../chat-runtimes/fair-queue.js';
import type { RuntimeMeter } from '../chat-runtimes/runtime-meter.js';
import { ManagedProcess, type OutputStream } from '../child-process/managed-process.js';
import type { SupervisedProcess } from '../child-process/supervisor.js';
import { ChatCalls } from './chat-calls.js';
import { callOf, type Order, reportOf } from './protocol.js';

/** The variants of weights that a model folder may hold, by their names in Transformers.js. */
export const dtypes = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4f16', 'bnb4'] as const;

export interface OnnxSource extends RuntimeSource {
  readonly kind: 'onnx';
  /** The path of the model folder, as the model spec names it. */
  readonly folder: string;
  /** Default: the usual weights of the folder. */
  readonly dtype?: (typeof dtypes)[number];
}

export interface ChatProcessSettings {
  /** The compiled program of the child process: `worker/main.js`. */
  readonly worker: string;
  /** Threads that one step of the model may use. */
  readonly threads: number;
  /** The most time that a call may wait and run, in total. */
  readonly timeoutMs: number;
  /** Calls that may wait while others are answered. */
  readonly queue: number;
  /** The most calls that are answered at once. Default: as many as the process can. */
  readonly atOnce?: number;
  /** Time that the process has to end before SIGKILL, or to confirm a cancelled call after its timeout. */
  readonly stopGraceMs: number;
  readonly loadTimeoutMs: number;
}

export interface ReadyModel {
  readonly task: RuntimeTask;
  /** Calls that are answered at once. */
  readonly atOnce: number;
  /** Prompts share the work for a common beginning. */
  readonly reuse: boolean;
  /** The chat template knows tools. */
  readonly tools: boolean;
  /** In tokens. */
  readonly context: number;
}

export interface ChatProcessListener {
  line(stream: OutputStream, line: string): void;
  invalidMessage(call: number | null): void;
  ready(about: ReadyModel): void;
  /** A callback for the moment when the model cannot be used or has not loaded in time. */
  broken(reason: string): void;
}

export class ChatProcess implements SupervisedProcess {
  readonly ready: Promise<void>;
  readonly gone: Promise<string>;
  readonly calls: ChatCalls;
  private readonly process: ManagedProcess<Order>;
  private readonly loadTimer: NodeJS.Timeout;
  private becomeReady: () => void = () => undefined;
  private ending = false;

  constructor(
    /** The folder must be on the local disk. */
    source: Pick<OnnxSource, 'folder' | 'dtype'>,
    private readonly settings: ChatProcessSettings,
    { estimate, meter, clock, ids }: { estimate: WaitEstimate; meter: RuntimeMeter; clock: Clock; ids: IdGenerator },
    private readonly listener: ChatProcessListener,
  ) {
    const { worker: program, threads, atOnce: maxBatch, stopGraceMs, loadTimeoutMs } = settings;
    this.process = new ManagedProcess({
      program,
      folder: source.folder,
      stopGraceMs,
      onMessage: (message) => this.receive(message),
      onLine: (stream, line) => listener.line(stream, line),
    });
    this.calls = new ChatCalls(
      { ...settings, graceMs: stopGraceMs },
      estimate,
      meter,
      clock,
      ids,
      (order) => this.process.send(order),
      () => this.process.kill('it did not react to a cancelled call'),
    );
    this.gone = this.process.gone;
    this.loadTimer = setTimeout(() => this.loadTimedOut(), loadTimeoutMs);
    this.ready = new Promise((resolve, reject) => {
      this.becomeReady = resolve;
      void this.gone.then((reason) => {
        clearTimeout(this.loadTimer);
        reject(new Error(reason));
      });
    });
    this.process.send({ type: 'load', folder: source.folder, threads, weights: source.dtype, maxBatch });
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  end(): Promise<void> {
    this.ending = true;
    clearTimeout(this.loadTimer);
    return this.process.end();
  }

  private receive(message: unknown): void {
    if (this.ending) return;
    const report = reportOf(message);
    if (!report) this.receiveInvalid(callOf(message));
    else if (report.type === 'broken') this.listener.broken(report.reason);
    else if (report.type === 'parts') for (const part of report.parts) this.calls.receivePart(part);
    else if (report.type === 'ready') {
      clearTimeout(this.loadTimer);
      const { task, maxBatch, reuse = false, tools = false, context } = report;
      const atOnce = Math.max(1, Math.min(maxBatch, this.settings.atOnce ?? maxBatch));
      this.calls.open(atOnce);
      this.listener.ready({ task, atOnce, reuse, tools, context });
      this.becomeReady();
    } else this.calls.receive(report);
  }

  private receiveInvalid(call: number | null): void {
    this.listener.invalidMessage(call);
    if (call !== null) this.calls.receiveInvalid(call);
  }

  private loadTimedOut(): void {
    const within = `within ${this.settings.loadTimeoutMs / 1_000} s`;
    const advice = 'start it once more, or ask the operator for more time (SERVICE_RUNTIME_LOAD_TIMEOUT_S)';
    this.listener.broken(`the model did not load ${within}: ${advice}`);
    this.process.kill('it did not load in time');
  }
}
