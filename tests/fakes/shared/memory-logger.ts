import { AsyncLocalStorage } from 'node:async_hooks';
import type { LogFields, Logger } from '../../../src/application/shared/ports.js';

export interface LoggedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: LogFields;
}

/** Keeps the logged lines. */
export class MemoryLogger implements Logger {
  readonly lines: LoggedLine[] = [];
  private readonly context = new AsyncLocalStorage<LogFields>();

  debug(event: string, fields?: LogFields): void {
    this.keep('debug', event, fields);
  }

  info(event: string, fields?: LogFields): void {
    this.keep('info', event, fields);
  }

  warn(event: string, fields?: LogFields): void {
    this.keep('warn', event, fields);
  }

  error(event: string, fields?: LogFields): void {
    this.keep('error', event, fields);
  }

  within<T>(fields: LogFields, work: () => T): T {
    return this.context.run({ ...this.context.getStore(), ...fields }, work);
  }

  bound<A extends unknown[], T>(work: (...args: A) => T): (...args: A) => T {
    const fields = this.context.getStore() ?? {};
    return (...args) => this.context.run(fields, () => work(...args));
  }

  async flush(): Promise<void> {}

  protected keep(level: LoggedLine['level'], event: string, fields: LogFields = {}): void {
    this.lines.push({ level, event, fields: { ...this.context.getStore(), ...fields } });
  }
}
