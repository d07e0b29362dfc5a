import type { Job } from '../../../src/domain/jobs/job.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

interface Kept {
  readonly job: Job;
  /** The how manyth to finish. */
  readonly finishNumber: number | null;
}

export const jobRows = (store: MemoryStore) => new MemoryTable<Kept>(store, 'jobs');
