import { EntitySchema } from 'typeorm';
import type { Job } from '../../../domain/jobs/job.js';

/** The ORM's types do not end on a recursive type such as JSON. */
export type JobRow = Omit<Job, 'result'> & { readonly result: object | null };

export const JobTable = new EntitySchema<JobRow>({
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
    process: { type: 'integer', nullable: true },
  },
});

/** Jobs as one JSON text. A moment is a number of milliseconds: a text takes longer than all else of a job to write. */
export const textOf = (jobs: readonly Job[]): string =>
  JSON.stringify(
    jobs.map((job) => ({
      ...job,
      createdAt: job.createdAt.getTime(),
      startedAt: job.startedAt?.getTime(),
      finishedAt: job.finishedAt?.getTime(),
    })),
  );

/** How that becomes numbered rows. A job without a result has none in the table. */
export const ROWS = `ROWS FROM (json_to_recordset($1::json) AS (id text, "teamId" text, kind text, mode text, status text,
    name text, "projectId" text, "datasetId" text, "modelId" text, "requestedBy" text, "createdAt" float8,
    "startedAt" float8, "finishedAt" float8, progress json, result json, error text, process integer))
  WITH ORDINALITY AS job (id, "teamId", kind, mode, status, name, "projectId", "datasetId", "modelId", "requestedBy",
    "createdAt", "startedAt", "finishedAt", progress, result, error, process, nth)`;

export const COLUMNS = `id, team_id, kind, mode, status, name, project_id, dataset_id, model_id, requested_by, created_at,
  started_at, finished_at, progress, result, error, process`;

/** The columns of a job as it is read without the ORM. */
export const READ = `id, team_id AS "teamId", kind, mode, status, name, project_id AS "projectId", dataset_id AS "datasetId",
  model_id AS "modelId", requested_by AS "requestedBy", created_at AS "createdAt", started_at AS "startedAt",
  finished_at AS "finishedAt", progress, result, error, process`;

export const VALUES = `id, "teamId", kind, mode, status, name, "projectId", "datasetId", "modelId", "requestedBy",
  to_timestamp("createdAt" / 1000), to_timestamp("startedAt" / 1000), to_timestamp("finishedAt" / 1000), progress, result,
  error, process`;
