import { injectable } from 'inversify';
import type { Caller } from '../../domain/accounts/caller.js';
import { authorize, permissions } from '../../domain/accounts/permission.js';
import type { AuditEntry } from '../../domain/audit/audit-entry.js';
import { type AuditFilter, AuditRepository } from './ports.js';

interface Input extends Omit<AuditFilter, 'team'> {
  readonly by: Caller | null;
  readonly page: { readonly limit: number; readonly after: string | null };
}

/** Admins read of their own team, those of the operators also of the deployment; the master key reads all. */
@injectable()
export class ReadAudit {
  constructor(private readonly trail: AuditRepository) {}

  async execute({ by, page, ...filter }: Input): Promise<AuditEntry[]> {
    const caller = authorize(by, permissions.readAudit);
    const team = caller.kind === 'master' ? null : { id: caller.teamId, operator: caller.operator };
    return this.trail.list({ ...filter, team }, page);
  }
}
