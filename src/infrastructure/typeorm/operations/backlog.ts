import type { DataSource } from '../data-source.js';
import { poolOf } from '../pool.js';
import type { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

/** One statement for all figures. The ORM has no FILTER. */
const BACKLOG = `
  SELECT * FROM
    (SELECT count(*)::integer AS mails, (count(*) FILTER (WHERE failures > 0))::integer AS "failedMails",
            coalesce(extract(epoch FROM now() - min(created_at)), 0)::float AS "oldestMailSeconds"
       FROM outbox WHERE delivered_at IS NULL) AS mails,
    (SELECT (count(*) FILTER (WHERE locked_at IS NULL))::integer AS "waitingTasks",
            (count(*) FILTER (WHERE locked_at IS NOT NULL))::integer AS "runningTasks",
            (count(*) FILTER (WHERE locked_at IS NULL AND last_error IS NOT NULL))::integer AS "failedTasks"
       FROM graphile_worker.jobs) AS tasks`;

export interface BacklogRow {
  readonly mails: number;
  readonly failedMails: number;
  readonly oldestMailSeconds: number;
  readonly waitingTasks: number;
  readonly runningTasks: number;
  readonly failedTasks: number;
}

/** Counts the mails and tasks that wait. */
export async function readBacklog(unitOfWork: TypeOrmUnitOfWork): Promise<BacklogRow> {
  const [row] = await unitOfWork.query<BacklogRow>(BACKLOG);
  return row as BacklogRow;
}

/** Counts the connections of this instance, and the work that waits for one. */
export function poolLoad(source: DataSource): { total: number; idle: number; waiting: number } {
  const { totalCount: total, idleCount: idle, waitingCount: waiting } = poolOf(source);
  return { total, idle, waiting };
}
