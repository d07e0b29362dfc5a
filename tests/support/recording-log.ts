import { EventEmitter, once } from 'node:events';
import type { LogFields, Logger } from '../../src/application/shared/ports.js';

export interface Logged {
  readonly level: 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: LogFields;
}

/** Keeps what is logged, and lets a test wait for it. */
export class RecordingLog implements Logger {
  readonly lines: Logged[] = [];
  private readonly events = new EventEmitter();

  info = (event: string, fields: LogFields = {}): void => this.keep({ level: 'info', event, fields });
  warn = (event: string, fields: LogFields = {}): void => this.keep({ level: 'warn', event, fields });
  error = (event: string, fields: LogFields = {}): void => this.keep({ level: 'error', event, fields });
  within = <T>(_fields: LogFields, work: () => T): T => work();
  bound = <A extends unknown[], T>(work: (...given: A) => T) => work;
  flush = async (): Promise<void> => undefined;

  of(event: string): Logged[] {
    return this.lines.filter((line) => line.event === event);
  }

  /** Resolves once `event` was logged `times` times, with the last of these. */
  async saw(event: string, times = 1): Promise<Logged> {
    while (this.of(event).length < times) await this.news();
    return this.of(event)[times - 1] as Logged;
  }

  /** Resolves when the next line is logged. */
  async news(): Promise<void> {
    await once(this.events, 'line');
  }

  private keep(line: Logged): void {
    this.lines.push(line);
    this.events.emit('line');
  }
}
