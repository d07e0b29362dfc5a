import type { LivingProcesses, ProcessIdentity } from '../../../application/jobs/ports/living-processes.js';

/** What all processes know of each other. */
export class MemoryProcesses {
  readonly living = new Set<number>();
  readonly identities = new Map<number, ProcessIdentity>();
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

  async introduce(identity: ProcessIdentity): Promise<void> {
    this.processes.identities.set(await this.own(), identity);
  }

  async identity(number: number): Promise<ProcessIdentity | null> {
    return this.processes.identities.get(number) ?? null;
  }

  async leave(): Promise<void> {
    if (this.number !== null) this.processes.living.delete(this.number);
  }
}
