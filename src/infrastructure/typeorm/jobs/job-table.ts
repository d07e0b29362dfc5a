import type { Job } from '../../../domain/jobs/job.js';
import { defineTable } from '../table.js';

/** TypeORM's types cannot follow a recursive type such as JSON. */
export interface JobRow extends Omit<Job, 'result'> {
  readonly result: object | null;
  /** Orders the finished jobs. Null before the end. */
  readonly finishNumber: string | null;
}

export const JobTable = defineTable<JobRow>('jobs', {
  id: { type: 'text', primary: true },
  teamId: { type: 'text', nullable: true },
  kind: { type: 'text' },
  mode: { type: 'text' },
  status: { type: 'text' },
  name: { type: 'text', nullable: true },
  projectId: { type: 'text', nullable: true },
  datasetId: { type: 'text', nullable: true },
  modelId: { type: 'text', nullable: true },
  requestedBy: { type: 'text' },
  createdAt: { type: 'timestamptz' },
  startedAt: { type: 'timestamptz', nullable: true },
  finishedAt: { type: 'timestamptz', nullable: true },
  progress: { type: 'json' },
  result: { type: 'json', nullable: true },
  error: { type: 'text', nullable: true },
  instance: { type: 'integer', name: 'process', nullable: true },
  finishNumber: { type: 'bigint', nullable: true, select: false },
});
