import { injectable } from 'inversify';
import { DataSource, type EntitySchema, IsNull, LessThanOrEqual, type ObjectLiteral } from 'typeorm';
import { MAIL } from '../../../application/accounts/mail-queue.js';
import type { ExpirableKind, ExpiredData, StorageProbe } from '../../../application/operations/ports.js';
import { usageBuckets } from '../../../domain/jobs/usage.js';
import { InstanceOutdated, StorageUnavailable } from '../../../domain/shared/errors.js';
import type { Backlog, PoolLoad } from '../../prometheus/metric-sources.js';
import { CredentialTable } from '../accounts/credential.repository.js';
import { MailedTokenTable, SpentSiteTokenTable } from '../accounts/mailed-token.repository.js';
import { AlertMessageTable } from '../alerts/alert.repository.js';
import { ResponseTable } from '../chat/response.repository.js';
import { migrationNames } from '../data-source.js';
import { UsageTable } from '../jobs/usage.repository.js';
import { migrationsDone } from '../migrate.js';
import { poolOf, TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';
import { RateLimitTable } from './rate-limits.js';

/** Reads all figures with one statement. The ORM has no FILTER. */
const BACKLOG = `
  SELECT (count(*) FILTER (WHERE is_mail))::integer AS mails,
         (count(*) FILTER (WHERE is_mail AND last_error IS NOT NULL))::integer AS "failedMails",
         coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE is_mail)), 0)::float AS "oldestMailSeconds",
         (count(*) FILTER (WHERE locked_at IS NULL))::integer AS "waitingTasks",
         (count(*) FILTER (WHERE locked_at IS NOT NULL))::integer AS "runningTasks",
         (count(*) FILTER (WHERE locked_at IS NULL AND last_error IS NOT NULL))::integer AS "failedTasks",
         (SELECT count(*) FROM budget_holds)::integer AS "heldCalls"
    FROM graphile_worker.jobs, LATERAL (SELECT task_identifier = '${MAIL}' AS is_mail) AS kind`;

export async function readBacklog(unitOfWork: TypeOrmUnitOfWork): Promise<Backlog> {
  const [row] = await unitOfWork.query<Backlog>(BACKLOG);
  return row as Backlog;
}

export function poolLoad(source: DataSource): PoolLoad {
  const { totalCount: total, idleCount: idle, waitingCount: waiting } = poolOf(source);
  return { total, idle, waiting };
}

interface Expirable {
  readonly table: EntitySchema<ObjectLiteral>;
  /** The field with the time that decides whether `remove` deletes a row. */
  readonly end: string;
  readonly where?: ObjectLiteral;
}

const TABLES: Readonly<Record<ExpirableKind, Expirable>> = {
  credentials: { table: CredentialTable, end: 'expiresAt' },
  unused_keys: {
    table: CredentialTable,
    end: 'createdAt',
    where: { kind: 'api_key', origin: 'login', lastUsedAt: IsNull() },
  },
  mailed_tokens: { table: MailedTokenTable, end: 'expiresAt' },
  alert_messages: { table: AlertMessageTable, end: 'sentAt' },
  site_tokens: { table: SpentSiteTokenTable, end: 'expiresAt' },
  usage_minutes: { table: UsageTable, end: 'start', where: { bucket: usageBuckets.indexOf('minute') } },
  rate_limits: { table: RateLimitTable, end: 'expiresAt' },
  responses: { table: ResponseTable, end: 'createdAt' },
  usage_hours: { table: UsageTable, end: 'start', where: { bucket: usageBuckets.indexOf('hour') } },
};

@injectable()
export class TypeOrmExpiredData implements ExpiredData {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  remove(kind: ExpirableKind, before: Date, most: number): Promise<number> {
    const { table, end, where } = TABLES[kind];
    return this.unitOfWork.readCommitted(async () => {
      const rows = this.unitOfWork.repository(table);
      const { primaryColumns } = rows.metadata;
      const expired = await rows.find({
        // A row may be large.
        select: Object.fromEntries(primaryColumns.map(({ propertyName }) => [propertyName, true])),
        where: { ...where, [end]: LessThanOrEqual(before) },
        order: { [end]: 'ASC' },
        take: most,
        lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
      });
      if (expired.length > 0) await rows.delete(expired.map((row) => rows.getId(row)));
      return expired.length;
    });
  }
}

@injectable()
export class TypeOrmStorageProbe implements StorageProbe {
  constructor(private readonly source: DataSource) {}

  async check(): Promise<void> {
    const done = await migrationsDone(this.source).catch((error: unknown) => {
      throw error instanceof InstanceOutdated ? error : new StorageUnavailable();
    });
    const upToDate = migrationNames.every((name) => done.includes(name));
    if (!upToDate) throw new StorageUnavailable('its tables are not up to date');
  }
}
