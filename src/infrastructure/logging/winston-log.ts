import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import winston from 'winston';
import type { Clock } from '../../application/shared/ports/clock.js';
import type { Log, LogFields } from '../../application/shared/ports/log.js';
import { makeFolder } from '../files/make-folder.js';
import { Carried } from '../system/carried.js';
import { logLine } from './log-line.js';
import { RotatingFile } from './rotating-file.js';

export const logLevels = ['error', 'warn', 'info', 'debug'] as const;

interface Settings {
  /** Path of the JSON Lines file; rotated by size, the newest under this very name. Null: there is none. */
  readonly file: string | null;
  readonly level: (typeof logLevels)[number];
  /** Also to standard error, for a terminal or a container's log. */
  readonly stderr: boolean;
}

const FILE_BYTES = 20 * 1024 * 1024;
const CLOSE_MS = 2_000;
const TOGETHER_MS = 20;

/** More is not kept for a disk that does not take it; it is lost. */
const WAITING_BYTES = 64 * 1024 * 1024;

/** JSON Lines: one event per line, `time`, `level` and `event` first. */
export class WinstonLog implements Log {
  private readonly context = new Carried<LogFields>();
  private readonly logger: winston.Logger;
  private readonly file: Writable;
  /** Lines that are written together, since each writing costs more than a line; none waits when something is wrong. */
  private lines: string[] = [];

  /** Throws when the file cannot be written. */
  constructor(
    { file, level, stderr }: Settings,
    private readonly clock: Clock,
  ) {
    if (file !== null) requireWritable(file);
    // winston's own transport to a file loses lines, or ends the process, where much comes while it rotates.
    this.file = file === null ? nowhere() : new RotatingFile(file, FILE_BYTES);
    const toFile = new winston.transports.Stream({ stream: this.file, eol: '\n' });
    const toTerminal = new winston.transports.Console({ stderrLevels: [...logLevels], silent: !stderr });
    this.logger = winston.createLogger({
      level,
      format: winston.format.printf(({ message }) => String(message)),
      transports: [toFile, toTerminal],
    });
  }

  info(event: string, fields?: LogFields): void {
    this.write('info', event, fields);
  }

  warn(event: string, fields?: LogFields): void {
    this.write('warn', event, fields);
  }

  error(event: string, fields?: LogFields): void {
    this.write('error', event, fields);
  }

  within<T>(fields: LogFields, work: () => T): T {
    return this.context.run({ ...this.context.value, ...fields }, work);
  }

  bound<A extends unknown[], T>(work: (...given: A) => T): (...given: A) => T {
    const fields = this.context.value ?? {};
    return (...given) => this.context.run(fields, () => work(...given));
  }

  async flush(): Promise<void> {
    this.pass();
    await setImmediate(); // by then winston has passed the lines on
    await new Promise<void>((resolve) => this.file.write('', () => resolve()));
  }

  /** Resolves once everything is written, or cannot be written any more. */
  close(): Promise<void> {
    this.pass();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS); // not unref'd: a process that waits for this must not end for want of work
      this.logger.once('finish', () => {
        this.file.end(() => {
          clearTimeout(timer);
          resolve();
        });
      });
      this.logger.end();
    });
  }

  private write(level: Settings['level'], event: string, fields: LogFields = {}): void {
    if (!this.logger.isLevelEnabled(level)) return;
    const head = { time: this.clock.now().toISOString(), level, event };
    this.lines.push(logLine(head, this.context.value ?? {}, fields));
    if (level !== 'info') this.pass();
    else if (this.lines.length === 1) setTimeout(() => this.pass(), TOGETHER_MS);
  }

  private pass(): void {
    const { lines } = this;
    this.lines = [];
    if (lines.length > 0 && this.file.writableLength < WAITING_BYTES) this.logger.log('error', lines.join('\n'));
  }
}

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

function requireWritable(file: string): void {
  try {
    makeFolder(dirname(file));
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw new Error(`the log ${file} (SERVICE_LOG_FILE) cannot be written: ${(error as Error).message}`);
  }
}
