import type { Storage } from '../../../application/operations/ports/storage.js';
import { StorageUnavailable } from '../../../domain/operations/errors.js';

/** For unit tests: a database that is there or not as they say. */
export class MemoryStorage implements Storage {
  available = true;

  async check(): Promise<void> {
    if (!this.available) throw new StorageUnavailable();
  }
}
