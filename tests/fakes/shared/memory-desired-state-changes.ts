import type { DesiredStateChanges } from '../../../src/application/shared/ports.js';
import type { MemoryStore } from '../memory-store.js';

const TABLES = ['runtime_connections', 'deployments'];

export class MemoryDesiredStateChanges implements DesiredStateChanges {
  private watcher: (table: string) => void = () => undefined;

  constructor(private readonly store: MemoryStore) {}

  listen(changed: () => void): void {
    this.watcher = (table) => {
      if (TABLES.includes(table)) changed();
    };
    this.store.watchers.add(this.watcher);
    changed();
  }

  async stop(): Promise<void> {
    this.store.watchers.delete(this.watcher);
  }
}
