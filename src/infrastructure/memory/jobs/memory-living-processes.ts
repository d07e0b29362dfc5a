import type { LivingProcesses } from '../../../application/jobs/ports/living-processes.js';

/** What all processes know of each other. */
export class MemoryProcesses {
  readonly living = new Set<number>();
  last = 0;
}

/** For unit tests: one process of some that are only imagined. */
export class MemoryLivingProcesses implements LivingProcesses {
  private number: number | null = null;

  constructor(private readonly processes = new MemoryProcesses()) {}

  async own(): Promise<number> {
    if (this.number === null) {
      this.number = ++this.processes.last;
      this.processes.living.add(this.number);
    }
    return this.number;
  }

  async renew(): Promise<void> {
    this.processes.living.add(await this.own());
  }

  async missing(numbers: readonly number[]): Promise<number[]> {
    return numbers.filter((number) => !this.processes.living.has(number));
  }

  async leave(): Promise<void> {
    if (this.number !== null) this.processes.living.delete(this.number);
  }
}
