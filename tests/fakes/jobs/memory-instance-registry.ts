import type { InstanceRegistry, ProcessIdentity } from '../../../src/application/jobs/ports.js';

/** What all processes know of each other. */
export class MemoryProcesses {
  readonly living = new Set<number>();
  readonly identities = new Map<number, ProcessIdentity>();
  last = 0;
}

/** For unit tests: one process of some that are only imagined. */
export class MemoryInstanceRegistry implements InstanceRegistry {
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

  async name(number: number): Promise<string | null> {
    return this.processes.identities.get(number)?.name ?? null;
  }

  async url(number: number): Promise<string | null> {
    return this.processes.living.has(number) ? this.processes.identities.get(number)?.url || null : null;
  }

  async withdraw(): Promise<void> {
    const number = await this.own();
    const identity = this.processes.identities.get(number);
    if (identity) this.processes.identities.set(number, { ...identity, url: '' });
  }

  async leave(): Promise<void> {
    if (this.number !== null) this.processes.living.delete(this.number);
  }
}
