import type { Logger } from '../../application/shared/ports.js';

const MOST_LINES = 10_000;
const MOST_CHARACTERS = 256 * 1_024;
const LINES_PER_SECOND = 200;

/**
 * What the processes of a deployment write: the latest of it is kept, and all of it goes to the log. Where it is more
 * than anybody reads, the log has the beginning of each second and how much was left out.
 */
export class OutputLog {
  private readonly lines: string[] = [];
  private characters = 0;
  private second: NodeJS.Timeout | null = null;
  private inSecond = 0;

  constructor(
    private readonly deployment: string,
    private readonly log: Logger,
  ) {}

  take(stream: 'stdout' | 'stderr', line: string): void {
    this.keep(line);
    this.second ??= setTimeout(() => this.endSecond(), 1_000).unref();
    this.inSecond++;
    if (this.inSecond <= LINES_PER_SECOND)
      this.log.info('deployment output', { deployment: this.deployment, stream, line });
  }

  latest(count: number): string[] {
    return this.lines.slice(-count);
  }

  private keep(line: string): void {
    this.lines.push(line);
    this.characters += line.length;
    while (this.lines.length > MOST_LINES || this.characters > MOST_CHARACTERS) {
      this.characters -= this.lines.shift()?.length ?? 0;
    }
  }

  private endSecond(): void {
    const leftOut = this.inSecond - LINES_PER_SECOND;
    if (leftOut > 0) this.log.warn('deployment output left out', { deployment: this.deployment, lines: leftOut });
    this.second = null;
    this.inSecond = 0;
  }
}
