import type { InstanceRegistry } from '../../../src/application/jobs/ports.js';

/** The registered instances, which all registries share. */
export class MemoryInstances {
  readonly living = new Set<number>();
  last = 0;
}

export class MemoryInstanceRegistry implements InstanceRegistry {
  private number: number | null = null;

  constructor(private readonly instances = new MemoryInstances()) {}

  async own(): Promise<number> {
    if (this.number === null) {
      this.number = ++this.instances.last;
      this.instances.living.add(this.number);
    }
    return this.number;
  }

  async renew(): Promise<void> {
    this.instances.living.add(await this.own());
  }

  async missing(numbers: readonly number[]): Promise<number[]> {
    return numbers.filter((number) => !this.instances.living.has(number));
  }

  async leave(): Promise<void> {
    if (this.number !== null) this.instances.living.delete(this.number);
  }
}
