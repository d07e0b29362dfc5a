import { injectable } from 'inversify';
import type { AuditFilter, AuditRepository } from '../../../application/audit/ports.js';
import type { Actor, AuditEntry } from '../../../domain/audit/audit-entry.js';
import { TypeOrmUnitOfWork } from '../typeorm-unit-of-work.js';

interface Row extends Omit<AuditEntry, 'actor'> {
  readonly actorKind: Actor['kind'];
  readonly actorId: string | null;
  readonly actorName: string | null;
  readonly credentialId: string | null;
}

const APPEND = `
  INSERT INTO audit_entries (id, created_at, actor_kind, actor_id, actor_name, credential_id, action, object_id,
         object_name, team_id, request_id, details)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`;

const LIST = `
  SELECT id, created_at AS "createdAt", actor_kind AS "actorKind", actor_id AS "actorId", actor_name AS "actorName",
         credential_id AS "credentialId", action, object_id AS "objectId", object_name AS "objectName",
         team_id AS "teamId", request_id AS "requestId", details
    FROM audit_entries`;

/** Without the ORM, which could change and remove rows as well. */
@injectable()
export class TypeOrmAuditRepository implements AuditRepository {
  constructor(private readonly unitOfWork: TypeOrmUnitOfWork) {}

  async append({ actor, ...entry }: AuditEntry): Promise<void> {
    if (!this.unitOfWork.isRunning) throw new Error('An entry belongs into the unit of work of its act.');
    const { id, createdAt, action, objectId, objectName, teamId, requestId, details } = entry;
    const who = [actor.kind, actor.id, actor.name, actor.credentialId];
    const what = [action, objectId, objectName, teamId, requestId, JSON.stringify(details)];
    await this.unitOfWork.prepared('audit-append', APPEND, [id, createdAt, ...who, ...what]);
  }

  async list(filter: AuditFilter, { limit, after }: Parameters<AuditRepository['list']>[1]): Promise<AuditEntry[]> {
    const values: unknown[] = [];
    const value = (one: unknown) => `$${values.push(one)}`;
    const conditions = [...conditionsOf(filter, value), ...(after === null ? [] : [`id < ${value(after)}`])];
    const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
    const text = `${LIST} ${where} ORDER BY id DESC LIMIT ${value(limit)}`;
    const unnamed = ''; // it has many forms, and each is asked for seldom
    const rows = await this.unitOfWork.prepared<Row>(unnamed, text, values);
    return rows.map(({ actorKind: kind, actorId, actorName: name, credentialId, ...entry }) => ({
      ...entry,
      actor: { kind, id: actorId, name, credentialId },
    }));
  }
}

function conditionsOf(filter: AuditFilter, value: (one: unknown) => string): string[] {
  const { team, actor, action, objectId, from, to } = filter;
  const of = (column: string, wanted: unknown) => (wanted === null ? [] : [`${column} ${value(wanted)}`]);
  return [
    ...(team ? [`(team_id = ${value(team.id)}${team.operator ? ' OR team_id IS NULL' : ''})`] : []),
    ...(actor ? ('id' in actor ? of('actor_id =', actor.id) : of('actor_kind =', actor.kind)) : []),
    ...of(action?.includes('.') ? 'action =' : "split_part(action, '.', 1) =", action),
    ...of('object_id =', objectId),
    ...of('created_at >=', from),
    ...of('created_at <', to),
  ];
}
