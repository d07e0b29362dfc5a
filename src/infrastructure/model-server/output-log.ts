import type { Logger } from '../../application/shared/ports.js';
import type { OutputStream } from '../child-process/managed-process.js';

const MAX_LINES = 10_000;
const MAX_CHARACTERS = 256 * 1_024;
const LOGGED_PER_SECOND = 200;

/** Keeps the latest output of a deployment's processes, and passes a bounded number of lines a second to the log. */
export class OutputLog {
  private readonly lines: string[] = [];
  private characters = 0;
  private second: NodeJS.Timeout | null = null;
  private linesInSecond = 0;

  constructor(
    private readonly deployment: string,
    private readonly log: Logger,
  ) {}

  write(stream: OutputStream, line: string): void {
    this.keep(line);
    this.second ??= setTimeout(() => this.endSecond(), 1_000).unref();
    this.linesInSecond++;
    if (this.linesInSecond <= LOGGED_PER_SECOND)
      this.log.info('deployment output', { deployment: this.deployment, stream, line });
  }

  latest(count: number): string[] {
    return this.lines.slice(-count);
  }

  private keep(line: string): void {
    this.lines.push(line);
    this.characters += line.length;
    while (this.lines.length > MAX_LINES || this.characters > MAX_CHARACTERS) {
      this.characters -= this.lines.shift()?.length ?? 0;
    }
  }

  private endSecond(): void {
    const leftOut = this.linesInSecond - LOGGED_PER_SECOND;
    if (leftOut > 0) this.log.warn('deployment output left out', { deployment: this.deployment, lines: leftOut });
    this.second = null;
    this.linesInSecond = 0;
  }
}
