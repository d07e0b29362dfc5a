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

export const TaskView = defineTable<TaskRow>({
  name: 'Task',
  schema: 'graphile_worker',
  tableName: 'jobs',
  columns: {
    id: { type: 'bigint', primary: true },
    task: { type: 'text', name: 'task_identifier' },
    runAt: { type: 'timestamptz', name: 'run_at' },
    lockedAt: { type: 'timestamptz', name: 'locked_at', nullable: true },
    lockedBy: { type: 'text', name: 'locked_by', nullable: true },
    lastError: { type: 'text', name: 'last_error', nullable: true },
  },
});
