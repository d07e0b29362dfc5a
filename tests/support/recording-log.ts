import { EventEmitter, once } from 'node:events';
import type { LogFields } from '../../src/application/shared/ports.js';
import { type LoggedLine, MemoryLogger } from '../fakes/shared/memory-logger.js';

/** Lets a test wait for lines of the log. */
export class RecordingLog extends MemoryLogger {
  private readonly events = new EventEmitter();

  of(event: string): LoggedLine[] {
    return this.lines.filter((line) => line.event === event);
  }

  /** Waits until `event` was logged `times` times. Returns the last of these lines. */
  async saw(event: string, times = 1): Promise<LoggedLine> {
    while (this.of(event).length < times) await this.news();
    return this.of(event)[times - 1] as LoggedLine;
  }

  /** Resolves when the next line is logged. */
  async news(): Promise<void> {
    await once(this.events, 'line');
  }

  protected override write(level: LoggedLine['level'], event: string, fields: LogFields): void {
    super.write(level, event, fields);
    this.events.emit('line');
  }
}
