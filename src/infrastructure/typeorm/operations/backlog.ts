import type { Pool } from 'pg';
import type { DataSource } from '../data-source.js';
import type { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

const BACKLOG = `
  SELECT count(*)::integer AS mails, (count(*) FILTER (WHERE failures > 0))::integer AS "failedMails",
         coalesce(extract(epoch FROM now() - min(created_at)), 0)::float AS "oldestMailSeconds"
    FROM outbox WHERE delivered_at IS NULL`;

export interface BacklogRow {
  readonly mails: number;
  readonly failedMails: number;
  readonly oldestMailSeconds: number;
}

/** What waits in the database. */
export async function readBacklog(unitOfWork: TypeOrmUnitOfWork): Promise<BacklogRow> {
  const [row] = await unitOfWork.prepared<BacklogRow>('backlog', BACKLOG, []);
  return row as BacklogRow;
}

/** The connections of this process: all, those that nobody uses, and how much work waits for one. */
export function poolLoad(source: DataSource): { total: number; idle: number; waiting: number } {
  const {
    totalCount: total,
    idleCount: idle,
    waitingCount: waiting,
  } = (source.driver as unknown as { master: Pool }).master;
  return { total, idle, waiting };
}
