import { type ChildProcess, fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import { OutputLines, OutputTail } from './output-lines.js';
import { startTiedToUs } from './parent-death.js';
import { withoutPaths } from './without-paths.js';

const TAIL_BYTES = 8 * 1_024;

/** All that a child sees of this process's environment: it has no need of a secret, so it gets none. */
const ENVIRONMENT = ['LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];

/** ONNX Runtime would otherwise report to its makers, and leave files in shared folders. */
const SILENT = { ORT_DISABLE_TELEMETRY: '1' };

/**
 * The fifth stream is the lifeline: the kernel closes our end of it however we die, and a child whose main thread may be
 * busy has another one watch the other end. Its number is known to these programs.
 */
const STREAMS = ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'] as const;

export interface ProcessListener {
  message(message: unknown): void;
  line(stream: 'stdout' | 'stderr', line: string): void;
  /** Once, when the process no longer exists. Nothing comes after it. */
  gone(reason: string): void;
}

/** One child process that takes orders, from its start to its end. */
export class ManagedProcess<Order extends object> {
  /** Resolves when the process no longer exists. */
  readonly gone: Promise<void>;
  private readonly child: ChildProcess;
  private readonly tail = new OutputTail(TAIL_BYTES);
  private fault: string | null = null;
  private killing: NodeJS.Timeout | undefined;

  /** `folder` is the model's: its path is kept out of what is told. Throws where the system refuses one more process. */
  constructor(
    program: string,
    private readonly folder: string,
    private readonly listener: ProcessListener,
  ) {
    const { execPath, execArgv } = startTiedToUs();
    this.child = fork(program, [], {
      env: { ...allowed(process.env), ...SILENT },
      execPath,
      execArgv: [...execArgv],
      stdio: [...STREAMS],
    });
    this.child.on('error', (error: NodeJS.ErrnoException) => {
      this.fault ??= this.child.pid ? null : `its process can't be started (${error.code ?? error.name})`;
    });
    this.child.on('message', (message) => listener.message(message));
    // Where the system is out of file descriptors there are no streams.
    this.child.stdio?.[4]?.on('error', () => undefined);
    this.read('stdout', this.child.stdout);
    this.read('stderr', this.child.stderr);
    this.gone = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        clearTimeout(this.killing);
        listener.gone(this.epitaph(code, signal));
        resolve();
      });
    });
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** A process that is already gone is told nothing. */
  send(order: Order): void {
    if (this.child.connected) this.child.send(order, () => undefined);
  }

  /** Ends it politely, and by force after `graceMs`. */
  end(graceMs: number): void {
    const isOver = this.child.exitCode !== null || this.child.signalCode !== null;
    if (this.killing || isOver) return;
    this.killing = setTimeout(() => this.child.kill('SIGKILL'), graceMs);
    this.child.kill('SIGTERM');
  }

  /** Ends it at once; `fault` is then the reason of its end. */
  kill(fault: string): void {
    this.fault ??= fault;
    this.child.kill('SIGKILL');
  }

  private read(name: 'stdout' | 'stderr', stream: Readable | null): void {
    const lines = new OutputLines((line) => this.listener.line(name, line));
    stream?.on('data', (chunk: Buffer) => {
      this.tail.write(chunk);
      lines.write(chunk);
    });
    stream?.on('error', () => undefined);
    stream?.on('end', () => lines.end());
  }

  private epitaph(code: number | null, signal: NodeJS.Signals | null): string {
    const end = this.fault ?? `its process ended (${signal ? `signal ${signal}` : `exit code ${code}`})`;
    const words = withoutPaths(this.tail.text.replaceAll(`${this.folder}/`, ''), this.folder);
    return words ? `${end}: ${words}` : end;
  }
}

function allowed(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(ENVIRONMENT.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}
