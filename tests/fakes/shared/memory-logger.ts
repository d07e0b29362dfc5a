import { type LogFields, Logger } from '../../../src/application/shared/ports.js';

export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: LogFields;
}

/** Keeps the logged lines. */
export class MemoryLogger extends Logger {
  readonly lines: LoggedLine[] = [];

  async flush(): Promise<void> {}

  protected write(level: LoggedLine['level'], event: string, fields: LogFields): void {
    this.lines.push({ level, event, fields });
  }
}
