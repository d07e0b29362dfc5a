import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import type { Readable } from 'node:stream';
import { OutputLines, OutputTail, withoutPaths } from './process-output.js';

const TAIL_BYTES = 8 * 1_024;

/** The environment variables that a child gets. None of them is a secret. */
const ENVIRONMENT = ['LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];

/** Without this, ONNX Runtime sends telemetry to Microsoft and leaves files in shared folders. */
const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: '1' };

export type OutputStream = 'stdout' | 'stderr';

export interface ProcessOptions {
  /** The compiled program of the child. */
  readonly program: string;
  /** The folder of the model. `lastOutput` does not contain its path. */
  readonly folder: string;
  /** Time between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number;
  readonly onMessage: (message: unknown) => void;
  readonly onLine: (stream: OutputStream, line: string) => void;
}

/** Starts a child process, sends it orders, and ends it. */
export class ManagedProcess<Order extends object> {
  /** Resolves with the reason when the process has ended or could not start, after all its output. */
  readonly gone: Promise<string>;
  private readonly child: ChildProcess | null = null;
  private readonly tail = new OutputTail(TAIL_BYTES);
  private fault: string | null = null;
  private killTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: ProcessOptions) {
    try {
      this.child = this.fork();
      this.gone = this.ended(this.child);
    } catch (error) {
      this.gone = Promise.resolve(cannotStart(error));
    }
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Returns the end of the output, without the paths of this machine. */
  get lastOutput(): string {
    const { folder } = this.options;
    return withoutPaths(this.tail.text.replaceAll(`${folder}/`, ''), folder);
  }

  /** Sends an order. Does nothing if the process is gone. */
  send(order: Order): void {
    if (this.child?.connected) this.child.send(order, () => undefined);
  }

  /** Sends SIGTERM, and SIGKILL after the grace period. Resolves when the process no longer exists. */
  async end(): Promise<void> {
    const { child } = this;
    if (child && !this.killTimer && child.exitCode === null && child.signalCode === null) {
      this.killTimer = setTimeout(() => child.kill('SIGKILL'), this.options.stopGraceMs);
      child.kill('SIGTERM');
    }
    await this.gone;
  }

  /** Sends SIGKILL. `fault` becomes the reason of `gone`. */
  kill(fault: string): void {
    this.fault ??= fault;
    this.child?.kill('SIGKILL');
  }

  private fork(): ChildProcess {
    const { execPath, execArgv } = nodeKilledWithParent();
    const child = fork(this.options.program, [], {
      env: { ...allowedVariables(process.env), ...NO_TELEMETRY },
      execPath,
      execArgv: [...execArgv],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child.on('error', (error) => {
      if (!child.pid) this.fault ??= cannotStart(error);
    });
    child.on('message', (message) => this.options.onMessage(message));
    this.read('stdout', child.stdout);
    this.read('stderr', child.stderr);
    return child;
  }

  private ended(child: ChildProcess): Promise<string> {
    return new Promise((resolve) => {
      child.once('close', (code, signal) => {
        clearTimeout(this.killTimer);
        const end = this.fault ?? `its process ended (${signal ? `signal ${signal}` : `exit code ${code}`})`;
        resolve(this.lastOutput ? `${end}: ${this.lastOutput}` : end);
      });
    });
  }

  /** Reads an output. The stream is null if the system has no more file descriptors. */
  private read(name: OutputStream, stream: Readable | null): void {
    const lines = new OutputLines((line) => this.options.onLine(name, line));
    stream?.on('data', (chunk: Buffer) => {
      this.tail.write(chunk);
      lines.write(chunk);
    });
    stream?.on('error', () => undefined);
    stream?.on('end', () => lines.end());
  }
}

function cannotStart(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  return `its process can't be started (${code ?? name})`;
}

const allowedVariables = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(ENVIRONMENT.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));

const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'];
const KILL_ON_PARENT_DEATH = ['--pdeathsig', 'KILL'];

/** The program that starts Node.js, and its arguments before the script. */
interface NodeCommand {
  readonly execPath: string;
  readonly execArgv: readonly string[];
}

let command: NodeCommand | undefined;

/**
 * Returns the command for a Node.js process that the kernel kills when this process dies, even if the child is
 * suspended. Only Linux with the setpriv of util-linux can do that. Elsewhere the child must call `endWithParent`.
 */
function nodeKilledWithParent(): NodeCommand {
  command ??= setprivCommand() ?? { execPath: process.execPath, execArgv: [] };
  return command;
}

/** Ends this child process when its parent is gone. A blocked main thread notices this too late. */
export function endWithParent(): void {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // Ctrl-C in a terminal reaches the whole process group, but only the parent decides when to end.
  process.on('SIGINT', () => undefined);
}

function setprivCommand(): NodeCommand | null {
  const setpriv = process.platform === 'linux' ? SETPRIV.find(isExecutable) : undefined;
  if (!setpriv) return null;
  // The setpriv of BusyBox lacks this option.
  const { status } = spawnSync(setpriv, [...KILL_ON_PARENT_DEATH, '/bin/true'], { stdio: 'ignore' });
  if (status !== 0) return null;
  return { execPath: setpriv, execArgv: [...KILL_ON_PARENT_DEATH, '--', process.execPath] };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
