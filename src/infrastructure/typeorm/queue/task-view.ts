import { defineTable } from '../table.js';

/** A task in graphile-worker's public view. */
export interface TaskRow {
  readonly id: string;
  readonly task: string;
  readonly runAt: Date;
  readonly lockedAt: Date | null;
  readonly lockedBy: string | null;
  readonly lastError: string | null;
}

export const TaskView = defineTable<TaskRow>(
  'jobs',
  {
    id: { type: 'bigint', primary: true },
    task: { type: 'text', name: 'task_identifier' },
    runAt: { type: 'timestamptz' },
    lockedAt: { type: 'timestamptz', nullable: true },
    lockedBy: { type: 'text', nullable: true },
    lastError: { type: 'text', nullable: true },
  },
  'graphile_worker',
);
