import type { AuditFilter, AuditRepository } from '../../../src/application/audit/ports.js';
import type { Page } from '../../../src/application/shared/ports.js';
import { AuditEntry } from '../../../src/domain/audit/audit-entry.js';
import type { MemoryStore } from '../memory-store.js';
import { MemoryTable } from '../memory-table.js';

export class MemoryAuditRepository implements AuditRepository {
  private readonly rows;

  constructor(private readonly store: MemoryStore) {
    this.rows = new MemoryTable<AuditEntry>(store, 'audit_entries');
  }

  async append(entry: AuditEntry): Promise<void> {
    if (!this.store.isWorking) throw new Error('An audit entry must be written in the unit of work of its action.');
    this.rows.put(entry.id, { ...entry, details: JSON.parse(JSON.stringify(entry.details)) });
  }

  async list(filter: AuditFilter, page: Page): Promise<AuditEntry[]> {
    return this.rows.newest((entry) => meets(entry, filter), page);
  }
}

function meets(entry: AuditEntry, { team, actor, action, objectId, from, to }: AuditFilter): boolean {
  if (team && entry.teamId !== team.id && !(team.operator && entry.teamId === null)) return false;
  if (actor && ('id' in actor ? entry.actor.id !== actor.id : entry.actor.kind !== actor.kind)) return false;
  if (action !== null && entry.action !== action && AuditEntry.objectKind(entry) !== action) return false;
  if (objectId !== null && entry.objectId !== objectId) return false;
  return (from === null || entry.createdAt >= from) && (to === null || entry.createdAt < to);
}
