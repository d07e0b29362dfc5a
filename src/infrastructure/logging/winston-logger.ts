import { closeSync, openSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createStream } from 'rotating-file-stream';
import winston from 'winston';
import type { LogLevel } from '../../application/operations/ports.js';
import { type Clock, type LogFields, Logger } from '../../application/shared/ports.js';
import { makeFolder } from '../files/data-folder.js';

interface Settings {
  /** Path of the newest file. Null: no file. */
  readonly file: string | null;
  readonly level: LogLevel;
  /** Writes to standard error, too, for a terminal or a container's log. */
  readonly stderr: boolean;
  /** The size at which a file is rotated, such as `20M` or `500K`. */
  readonly fileSize?: string;
}

const FILES = 5;
const REOPEN_MS = 10_000;
const CLOSE_MS = 2_000;
/** The pause after each write. Lines that arrive during the pause are then written together. */
const PAUSE_MS = 10;

/** Control characters of terminals, and line ends for some readers. JSON does not escape them. */
const CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;

/** Writes JSON Lines with `time`, `level` and `event` first. Rotates the file by size. Redacts secrets. */
export class WinstonLogger extends Logger {
  private readonly logger: winston.Logger;
  private readonly lines: Writable;
  private file: Writable | null = null;
  private reopening: NodeJS.Timeout | undefined;
  private closed = false;
  /** Counts the lines that standard error did not take, since it last took one. */
  private lost = 0;

  /** Throws if the file cannot be written. */
  constructor({ file, level, stderr, fileSize = '20M' }: Settings, clock: Clock, running?: () => LogFields) {
    super(running);
    const redact = winston.format((info) => ({
      ...info,
      message: redactedText(String(info.message)),
      fields: redacted(info.fields),
    }));
    const jsonLine = winston.format.printf(({ level, message, fields }) => {
      const head = { time: clock.now().toISOString(), level, event: message };
      // The second `head` replaces fields of the same names.
      const json = JSON.stringify({ ...head, ...(fields as LogFields), ...head });
      return json.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
    });
    this.lines = new Writable({
      writev: (lines, done) => {
        const piece = Buffer.concat(lines.map(({ chunk }) => chunk));
        if (stderr && piece.length > 0) process.stderr.write(piece, (error) => this.tried(lines, error));
        const written = () => void setTimeout(done, PAUSE_MS);
        if (this.file) this.file.write(piece, written);
        else written();
      },
      final: (done) => void (this.file ? this.file.end(() => done()) : done()),
    });
    this.logger = winston.createLogger({
      level,
      format: winston.format.combine(redact(), jsonLine),
      transports: [new winston.transports.Stream({ stream: this.lines, eol: '\n' })],
    });
    if (stderr) process.stderr.off('error', survive).on('error', survive);
    if (file !== null) {
      requireWritable(file);
      this.openFile(file, fileSize);
    }
  }

  async flush(): Promise<void> {
    await setImmediate(); // one turn of the event loop, in which winston passes the lines on
    await new Promise<void>((resolve) => this.lines.write('', () => resolve()));
  }

  /** Resolves once everything is written, or after two seconds. Later lines are lost. */
  close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.reopening);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, CLOSE_MS); // keeps the process alive until the lines are written
      const closed = () => {
        clearTimeout(timer);
        resolve();
      };
      this.logger.once('finish', () => this.lines.end(closed));
      this.logger.end();
    });
  }

  protected write(level: Settings['level'], event: string, fields: LogFields): void {
    if (this.closed || !this.logger.isLevelEnabled(level)) return;
    this.logger.log({ level, message: event, fields });
  }

  /** Tells the file when standard error begins to lose lines, and how many it has lost when it takes lines again. */
  private tried(lines: { readonly chunk: Buffer }[], error: Error | null | undefined): void {
    const { lost } = this;
    this.lost = error ? lost + lines.filter(({ chunk }) => chunk.length > 0).length : 0;
    if (error && lost === 0) this.warn('standard error cannot be written', { error });
    else if (!error && lost > 0) this.warn('standard error has lost lines', { lines: lost });
  }

  /**
   * Opens the file. Does not use winston's own file transport: it does not tell when a line is written, and its files
   * become several times as large as their limit while many lines arrive.
   */
  private openFile(file: string, size: string): void {
    const names = logFiles(file);
    const rotating = createStream((n) => names[Number(n)] as string, { size, rotate: FILES - 1, mode: 0o600 });
    rotating.once('error', (error) => {
      // A full disk must not end the service. Lines are lost until the file can be opened again.
      this.file = null;
      this.warn('the log file cannot be written', { file, error });
      if (!this.closed) this.reopening = setTimeout(() => this.openFile(file, size), REOPEN_MS).unref();
    });
    this.file = rotating;
  }
}

/** A closed pipe or a full disk behind standard error must not end the service. */
const survive = () => undefined;

/** Returns the paths of a log's files, newest first. */
export function logFiles(file: string): string[] {
  const extension = extname(file);
  const name = basename(file, extension);
  return Array.from({ length: FILES }, (_, n) => join(dirname(file), `${name}${n || ''}${extension}`));
}

function requireWritable(file: string): void {
  try {
    makeFolder(dirname(file));
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw new Error(`the log ${file} (SERVICE_LOG_FILE) cannot be written: ${(error as Error).message}`);
  }
}

const SECRET_NAME = /password|secret|token|authorization|api[-_]?key|cookie|master[-_]?key/i;
const SECRET_FORMS = [
  [/(tn[a-z]_)[0-9A-Za-z]{20,}/g, '$1[redacted]'],
  [/(whsec_)[0-9A-Za-z+/]{20,}=*/g, '$1[redacted]'],
  [/\b(Bearer)\s+\S+/gi, '$1 [redacted]'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:)[^/\s]+@/gi, '$1[redacted]@'],
] as const;
/** A quick check before the slower ones, because most texts hold no secret. */
const MAY_HOLD_SECRET = /tn[a-z]_|whsec_|bearer|:\/\//i;
const MOST_DEPTH = 6;

/**
 * Returns a copy for the log. Replaces secrets, which have a certain name or form. Turns errors into plain fields.
 * Limits the depth, because a value may contain itself. Never throws.
 */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactedText(value);
  if (typeof value === 'function') return '[function]'; // JSON would call a function with the name toJSON
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Date) return value.toJSON();
  if (depth > MOST_DEPTH) return '[deep]';
  try {
    if (Array.isArray(value)) return value.map((item) => redacted(item, depth + 1));
    const fields = value instanceof Error ? errorFields(value) : value;
    return Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [redactedText(name), redactedField(name, field, depth + 1)]),
    );
  } catch (error) {
    return { unreadable: redactedText(String(error)) }; // a getter threw
  }
}

/** Replaces secrets in a text by their form. */
function redactedText(text: string): string {
  if (!MAY_HOLD_SECRET.test(text)) return text;
  return SECRET_FORMS.reduce((rest, [form, replacement]) => rest.replace(form, replacement), text);
}

const redactedField = (name: string, field: unknown, depth: number): unknown =>
  SECRET_NAME.test(name) && canHoldSecret(field) ? '[redacted]' : redacted(field, depth);

/** Returns false for numbers, booleans and times, such as `prompt_tokens`: they are no secrets. */
const canHoldSecret = (field: unknown) =>
  typeof field === 'string' || (typeof field === 'object' && field !== null && !(field instanceof Date));

function errorFields(error: Error) {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return { name: error.name, message: error.message, code, stack: error.stack, cause };
}
