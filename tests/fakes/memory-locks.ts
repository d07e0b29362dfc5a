import type { Locks } from '../../src/application/shared/ports.js';
import type { MemoryStore } from './memory-store.js';

/** Runs every turn alone, the shared ones as well. */
export class MemoryLocks implements Locks {
  constructor(private readonly store: MemoryStore) {}

  async run<T>(line: string, work: () => Promise<T>): Promise<T> {
    if (this.store.isWorking) throw new Error('This must not run inside a unit of work.');
    return this.store.inLine(line, () => this.store.run(work));
  }
}
