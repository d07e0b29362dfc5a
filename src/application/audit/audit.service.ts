import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { AuditEntry } from '../../domain/audit/audit-entry.js';
import { type AuditFilter, AuditRepository } from './ports.js';

interface Listing extends Omit<AuditFilter, 'team'> {
  readonly by: Caller | null;
  readonly page: { readonly limit: number; readonly after: string | null };
}

@injectable()
export class AuditService {
  constructor(private readonly entries: AuditRepository) {}

  /**
   * Returns audit entries, newest first. An admin reads the own team's entries, an admin of the operator team also
   * those of the deployment, and the master key reads all.
   */
  async list({ by, page, ...filter }: Listing): Promise<AuditEntry[]> {
    const caller = authorize(by, permissions.readAudit);
    const team = caller.kind === 'master' ? null : { id: caller.teamId, operator: caller.operator };
    return this.entries.list({ ...filter, team }, page);
  }
}
