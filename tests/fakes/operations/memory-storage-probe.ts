import type { StorageProbe } from '../../../src/application/operations/ports.js';
import { StorageUnavailable } from '../../../src/domain/shared/errors.js';

/** For unit tests: a database that is there or not as they say. */
export class MemoryStorageProbe implements StorageProbe {
  available = true;

  async check(): Promise<void> {
    if (!this.available) throw new StorageUnavailable();
  }
}
