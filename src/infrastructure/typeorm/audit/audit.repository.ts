import { injectable } from 'inversify';
import type { SelectQueryBuilder } from 'typeorm';
import type { AuditFilter, AuditRepository } from '../../../application/audit/ports.js';
import { MOST_SEARCHED } from '../../../application/shared/bounded-page.js';
import { type Actor, type AuditEntry, auditActions } from '../../../domain/audit/audit-entry.js';
import { containing } from '../search.js';
import { defineTable } from '../table.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

interface AuditRow extends Omit<AuditEntry, 'actor'> {
  readonly actorKind: Actor['kind'];
  readonly actorId: string | null;
  readonly actorName: string | null;
  readonly credentialId: string | null;
}

export const AuditTable = defineTable<AuditRow>('audit_entries', {
  id: { type: 'text', primary: true },
  createdAt: { type: 'timestamptz' },
  actorKind: { type: 'text' },
  actorId: { type: 'text', nullable: true },
  actorName: { type: 'text', nullable: true },
  credentialId: { type: 'text', nullable: true },
  action: { type: 'text' },
  objectId: { type: 'text' },
  objectName: { type: 'text', nullable: true },
  teamId: { type: 'text', nullable: true },
  requestId: { type: 'text', nullable: true },
  details: { type: 'json' },
});

@injectable()
export class TypeOrmAuditRepository implements AuditRepository {
  private readonly table = () => this.unitOfWork.repository(AuditTable);

  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async append({ actor, ...entry }: AuditEntry): Promise<void> {
    if (!this.unitOfWork.isRunning)
      throw new Error('An audit entry must be written in the unit of work of its action.');
    const { kind: actorKind, id: actorId, name: actorName, credentialId } = actor;
    await this.table().insert({ ...entry, actorKind, actorId, actorName, credentialId });
  }

  async list(filter: AuditFilter, { limit, after }: Parameters<AuditRepository['list']>[1]): Promise<AuditEntry[]> {
    const entries = matching(this.table().createQueryBuilder('entry'), filter);
    const { from, to, q } = filter;
    if (from ?? to) {
      const [ends] = await this.unitOfWork.query<{ first: string | null; last: string | null }>(ENDS, [from, to]);
      if (from !== null) entries.andWhere('entry.id >= :first', { first: ends?.first });
      if (to !== null) entries.andWhere('entry.id <= :last', { last: ends?.last });
    }
    if (q !== undefined) onlyNamed(entries, q);
    if (after !== null) entries.andWhere('entry.id < :after', { after });
    const rows = await entries.orderBy('entry.id', 'DESC').limit(limit).getMany();
    return rows.map(({ actorKind: kind, actorId, actorName: name, credentialId, ...entry }) => ({
      ...entry,
      actor: { kind, id: actorId, name, credentialId },
    }));
  }
}

/** Keeps those of the newest entries that have `part` in a name. */
function onlyNamed(entries: SelectQueryBuilder<AuditRow>, part: string): void {
  const newest = entries.clone().select(['entry.id', 'entry.actor_name', 'entry.object_name']);
  const searched = newest.orderBy('entry.id', 'DESC').limit(MOST_SEARCHED).getQuery();
  entries.where(
    `entry.id IN (SELECT entry_id FROM (${searched}) AS newest WHERE concat_ws(E'\\n', actor_name, object_name) ~ :part)`,
    {
      part: containing(part),
    },
  );
}

/** More than the entries that are written at the same time, whose ids may not be in the order of their times. */
const OVERLAP = 100;

/**
 * Finds the ids at the ends of a period, because the entries are listed by id: without them, PostgreSQL would read all
 * entries after the period. They are values of the list, not a part of it, so that its plan fits them.
 */
const ENDS = `
  SELECT (SELECT min(id) FROM (SELECT id FROM audit_entries WHERE created_at >= $1
                                ORDER BY created_at, id LIMIT ${OVERLAP}) AS earliest) AS first,
         (SELECT max(id) FROM (SELECT id FROM audit_entries WHERE created_at < $2
                                ORDER BY created_at DESC, id DESC LIMIT ${OVERLAP}) AS latest) AS last`;

function matching(entries: SelectQueryBuilder<AuditRow>, filter: AuditFilter): SelectQueryBuilder<AuditRow> {
  const { team, actor, action, objectId, from, to } = filter;
  if (team) {
    const orNone = team.operator ? ' OR entry.teamId IS NULL' : '';
    entries.andWhere(`(entry.teamId = :teamId${orNone})`, { teamId: team.id });
  }
  if (actor && 'id' in actor) entries.andWhere('entry.actorId = :actorId', { actorId: actor.id });
  else if (actor) entries.andWhere('entry.actorKind = :actorKind', { actorKind: actor.kind });
  if (action !== null) {
    const actions = auditActions.filter((one) => one === action || one.startsWith(`${action}.`));
    entries.andWhere('entry.action IN (:...actions)', { actions: [...actions, action] });
  }
  if (objectId !== null) entries.andWhere('entry.objectId = :objectId', { objectId });
  if (from !== null) entries.andWhere('entry.createdAt >= :from', { from });
  if (to !== null) entries.andWhere('entry.createdAt < :to', { to });
  return entries;
}
