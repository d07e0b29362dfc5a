import { injectable } from 'inversify';
import type { SelectQueryBuilder } from 'typeorm';
import type { AuditFilter, AuditRepository } from '../../../application/audit/ports.js';
import type { Actor, AuditEntry } from '../../../domain/audit/audit-entry.js';
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
    if (after !== null) entries.andWhere('entry.id < :after', { after });
    const rows = await entries.orderBy('entry.id', 'DESC').limit(limit).getMany();
    return rows.map(({ actorKind: kind, actorId, actorName: name, credentialId, ...entry }) => ({
      ...entry,
      actor: { kind, id: actorId, name, credentialId },
    }));
  }
}

function matching(entries: SelectQueryBuilder<AuditRow>, filter: AuditFilter): SelectQueryBuilder<AuditRow> {
  const { team, actor, action, objectId, from, to } = filter;
  if (team) {
    const orNone = team.operator ? ' OR entry.teamId IS NULL' : '';
    entries.andWhere(`(entry.teamId = :teamId${orNone})`, { teamId: team.id });
  }
  if (actor && 'id' in actor) entries.andWhere('entry.actorId = :actorId', { actorId: actor.id });
  else if (actor) entries.andWhere('entry.actorKind = :actorKind', { actorKind: actor.kind });
  const named = action?.includes('.') ? 'entry.action' : "split_part(entry.action, '.', 1)";
  if (action !== null) entries.andWhere(`${named} = :action`, { action });
  if (objectId !== null) entries.andWhere('entry.objectId = :objectId', { objectId });
  if (from !== null) entries.andWhere('entry.createdAt >= :from', { from });
  if (to !== null) entries.andWhere('entry.createdAt < :to', { to });
  return entries;
}
