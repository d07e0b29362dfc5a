import type { Job } from '../../../domain/jobs/job.js';
import { defineTable } from '../table.js';

/** TypeORM's types cannot follow a recursive type such as JSON. */
export interface JobRow extends Omit<Job, 'result'> {
  readonly result: object | null;
  /** Orders the finished jobs. Null before the end. */
  readonly finishNumber: string | null;
}

export const JobTable = defineTable<JobRow>({
  name: 'Job',
  tableName: 'jobs',
  columns: {
    id: { type: 'text', primary: true },
    teamId: { type: 'text', name: 'team_id', nullable: true },
    kind: { type: 'text' },
    mode: { type: 'text' },
    status: { type: 'text' },
    name: { type: 'text', nullable: true },
    projectId: { type: 'text', name: 'project_id', nullable: true },
    datasetId: { type: 'text', name: 'dataset_id', nullable: true },
    modelId: { type: 'text', name: 'model_id', nullable: true },
    requestedBy: { type: 'text', name: 'requested_by' },
    createdAt: { type: 'timestamptz', name: 'created_at' },
    startedAt: { type: 'timestamptz', name: 'started_at', nullable: true },
    finishedAt: { type: 'timestamptz', name: 'finished_at', nullable: true },
    progress: { type: 'json' },
    result: { type: 'json', nullable: true },
    error: { type: 'text', nullable: true },
    instance: { type: 'integer', name: 'process', nullable: true },
    finishNumber: { type: 'bigint', name: 'finish_number', nullable: true, select: false },
  },
});
