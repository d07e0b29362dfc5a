import type { Metrics } from '../../../src/application/operations/ports.js';

/** For unit tests: a gauge for each source that answers. */
export class MemoryMetrics implements Metrics {
  constructor(private readonly sources: Readonly<Record<string, () => number>>) {}

  async read(): Promise<string> {
    const lines = Object.entries(this.sources).flatMap(([name, source]) => {
      try {
        return [`# HELP ${name} A number.`, `# TYPE ${name} gauge`, `${name} ${source()}`];
      } catch {
        return [];
      }
    });
    return `${lines.join('\n')}\n`;
  }
}
