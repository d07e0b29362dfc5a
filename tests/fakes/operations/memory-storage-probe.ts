import type { StorageProbe } from '../../../src/application/operations/ports.js';
import { StorageUnavailable } from '../../../src/domain/shared/errors.js';

/** Probes a database that is available as long as a test says so. */
export class MemoryStorageProbe implements StorageProbe {
  available = true;

  async check(): Promise<void> {
    if (!this.available) throw new StorageUnavailable();
  }
}
